#include "traces/import/snapshot.h"

#include <algorithm>
#include <map>

#include "traces/error.h"
#include "traces/import/sum_guard.h"

namespace stowage {
namespace {

using PickleKind = PickleValue::Kind;

std::optional<SnapshotAction> action_of(std::string_view name) {
  static constexpr std::pair<std::string_view, SnapshotAction> actions[] = {
      {"alloc", SnapshotAction::allocate},
      {"free_requested", SnapshotAction::request_free},
      {"free_completed", SnapshotAction::complete_free},
      {"free", SnapshotAction::complete_free},
      {"segment_alloc", SnapshotAction::map_segment},
      {"segment_map", SnapshotAction::map_segment},
      {"segment_free", SnapshotAction::unmap_segment},
      {"segment_unmap", SnapshotAction::unmap_segment},
      {"oom", SnapshotAction::out_of_memory},
  };
  for (const auto& [text, action] : actions) {
    if (text == name) return action;
  }
  return std::nullopt;
}

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(Pickle pickle) { snapshot_.pickle = std::move(pickle); }

  Snapshot build() {
    const PickleValue root = pickle().root();
    const PickleValue segments = pickle().find(root, "segments");
    if (segments.kind != PickleKind::list) refuse("segments", "the allocator's segments, a list");
    for (const PickleValue& segment : pickle().items(segments)) add_segment(segment);
    for (const PickleValue& trace : pickle().items(pickle().find(root, "device_traces"))) {
      snapshot_.history.emplace_back();
      for (const PickleValue& entry : pickle().items(trace)) add_entry(entry);
    }
    add_ranges(pickle().find(root, "external_annotations"));
    return std::move(snapshot_);
  }

 private:
  const Pickle& pickle() const { return snapshot_.pickle; }

  [[noreturn]] static void refuse(const std::string& path, const std::string& expected) {
    throw InputError("", path, "expected " + expected);
  }

  std::int64_t integer(const PickleValue& holder, std::string_view key) const {
    return pickle().integer(pickle().find(holder, key)).value_or(0);
  }

  // 0 for what no machine has.
  Bytes size(const PickleValue& holder, std::string_view key) {
    const std::int64_t bytes = integer(holder, key);
    return {bytes >= 0 && sizes_.admit(bytes) ? bytes : 0};
  }

  void add_segment(const PickleValue& value) {
    if (value.kind != PickleKind::dictionary) {
      refuse("segments[" + std::to_string(snapshot_.segments.size()) + "]", "a segment, a dictionary");
    }
    SnapshotSegment segment;
    segment.device = integer(value, "device");
    segment.stream = integer(value, "stream");
    segment.address = static_cast<std::uint64_t>(integer(value, "address"));
    segment.expandable = integer(value, "is_expandable") != 0;
    segment.large = pickle().text(pickle().find(value, "segment_type")) == "large";
    segment.total = size(value, "total_size");
    std::uint64_t address = segment.address;
    for (const PickleValue& block : pickle().items(pickle().find(value, "blocks"))) {
      const Bytes bytes = size(block, "size");
      const bool live = pickle().text(pickle().find(block, "state")).starts_with("active");
      segment.blocks.push_back({address, bytes, live});
      address += static_cast<std::uint64_t>(bytes.value);
      if (live) {
        segment.live += bytes;
      } else {
        segment.largest_free = std::max(segment.largest_free, bytes);
      }
    }
    snapshot_.segments.push_back(std::move(segment));
  }

  void add_entry(const PickleValue& value) {
    const std::optional<SnapshotAction> action = action_of(pickle().text(pickle().find(value, "action")));
    if (!action) {
      ++snapshot_.ignored_entries;
      return;
    }
    SnapshotEntry entry{.action = *action,
                        .address = static_cast<std::uint64_t>(integer(value, "addr")),
                        .stream = integer(value, "stream"),
                        .bytes = size(value, "size"),
                        .at = std::nullopt,
                        .frames = pickle().find(value, "frames")};
    if (const auto micros = pickle().integer(pickle().find(value, "time_us"))) entry.at = nanos(*micros);
    snapshot_.history.back().push_back(entry);
  }

  static Nanos nanos(std::int64_t micros) {
    constexpr std::int64_t latest = 4'000'000'000'000'000;  // the year 2096
    return {std::clamp<std::int64_t>(micros, 0, latest) * 1000};
  }

  // Ranges as pairs of begin and end, which may nest.
  void add_ranges(const PickleValue& annotations) {
    std::map<std::string_view, std::vector<Nanos>> open;
    for (const PickleValue& mark : pickle().items(annotations)) {
      const std::string_view name = pickle().text(pickle().find(mark, "name"));
      const Nanos at = nanos(integer(mark, "time_us"));
      std::vector<Nanos>& begins = open[name];
      if (pickle().text(pickle().find(mark, "stage")) == "START") {
        begins.push_back(at);
      } else if (!begins.empty()) {
        snapshot_.ranges.push_back({name, begins.back(), at});
        begins.pop_back();
      }
    }
  }

  SumGuard sizes_;
  Snapshot snapshot_;
};

}  // namespace

std::vector<SnapshotFrame> Snapshot::frames_of(const SnapshotEntry& entry) const {
  std::vector<SnapshotFrame> frames;
  for (const PickleValue& frame : pickle.items(entry.frames)) {
    frames.push_back({.function = pickle.text(pickle.find(frame, "name")),
                      .file = pickle.text(pickle.find(frame, "filename")),
                      .line = pickle.integer(pickle.find(frame, "line")).value_or(0)});
  }
  return frames;
}

Snapshot snapshot_of(Pickle pickle) {
  return SnapshotBuilder(std::move(pickle)).build();
}

}  // namespace stowage
