#include "traces/import/snapshot_history.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "traces/import/name_pattern.h"

namespace stowage {
namespace {

// What a stack says of where in the model it is.
struct Place {
  std::vector<ForwardLine> lines;  // of the forwards, outermost first
  bool in_block = false;           // the last line is of a frame that the user named
  bool again = false;              // within a backward, and so are the lines
};

// In which torch.utils.checkpoint and its like run a forward again: the functions that autograd calls, with
// and without a node of their own.
bool runs_again(const SnapshotFrame& frame) {
  return frame.function == "backward" || frame.function == "recompute_fn" ||
         frame.function.starts_with("unpack");
}

// Stacks are shared: each is looked at once.
class Places {
 public:
  Places(const Snapshot& snapshot, const std::optional<std::string>& pattern) : snapshot_(&snapshot) {
    if (pattern) pattern_.emplace(*pattern, "--blocks");
  }

  const Place& of(const SnapshotEntry& entry) {
    static const Place none;
    if (entry.frames.kind != PickleValue::Kind::list) return none;
    const auto [found, added] = places_.try_emplace(entry.frames.index);
    if (added) found->second = place_of(snapshot_->frames_of(entry));
    return found->second;
  }

 private:
  Place place_of(const std::vector<SnapshotFrame>& innermost_first) {
    Place place;
    for (auto frame = innermost_first.rbegin(); frame != innermost_first.rend(); ++frame) {
      if (runs_again(*frame)) {
        place.again = true;
        place.lines.clear();
      }
      place.in_block = pattern_ && pattern_->found_in(text(*frame));
      if (place.in_block && place.lines.empty()) place.lines.push_back(number({"", "", 0}));  // no forward
      if (place.in_block || (frame->function == "forward" && place.lines.size() + 1 < ForwardLoops::deepest))
        place.lines.push_back(number(*frame));
      if (place.in_block) break;
    }
    place.again = place.again && !place.lines.empty();
    return place;
  }

  static std::string text(const SnapshotFrame& frame) {
    return std::string(frame.file) + ":" + std::to_string(frame.line) + ":" + std::string(frame.function);
  }

  ForwardLine number(const SnapshotFrame& frame) {
    const auto next = static_cast<ForwardLine>(numbers_.size());
    return numbers_.try_emplace({frame.file, frame.line}, next).first->second;
  }

  const Snapshot* snapshot_;
  std::optional<NamePattern> pattern_;
  std::unordered_map<std::uint32_t, Place> places_;
  std::map<std::pair<std::string_view, std::int64_t>, ForwardLine> numbers_;
};

constexpr std::uint32_t nobody = ~std::uint32_t{0};

// Of operations, from allocations.
class Operations {
 public:
  void add(std::size_t operation) { of_.push_back(operation); }
  void end(std::size_t log_size) { of_.push_back(log_size); }
  std::size_t operator[](std::size_t allocation) const { return of_[allocation]; }

 private:
  std::vector<std::size_t> of_;  // the last one is of what lies beyond
};

// Blocks of several loops are numbered through, in the order in which they first run.
void take_passes(const std::vector<ForwardTurn>& turns, const Operations& operations,
                 SnapshotHistory& history) {
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> ids;
  for (const ForwardTurn& turn : turns) {
    const auto id =
        ids.try_emplace({turn.loop, turn.block}, static_cast<std::uint32_t>(ids.size())).first->second;
    history.passes.push_back({id, turn.step, operations[turn.first], operations[turn.last]});
  }
  history.blocks = ids.size();
}

SnapshotReruns reruns_of(const ForwardReruns& found, const Operations& operations,
                         const SnapshotHistory& history) {
  std::vector<RerunStretch> stretches;
  for (const ForwardRerun& turn : found.turns)
    stretches.push_back({turn.run, turn.whole, operations[turn.first], operations[turn.last]});
  std::vector<std::size_t> others;
  for (const std::size_t allocation : found.others) others.push_back(operations[allocation]);
  return assign_reruns(history.log, history.passes, stretches, others);
}

}  // namespace

SnapshotHistory history_of(const Snapshot& snapshot, const std::optional<std::string>& pattern) {
  SnapshotHistory history;
  const auto longest = std::max_element(snapshot.history.begin(), snapshot.history.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (longest == snapshot.history.end()) return history;
  history.device = longest - snapshot.history.begin();
  Places places(snapshot, pattern);
  ForwardLoops loops(pattern.has_value());
  Operations operations;
  for (const SnapshotEntry& entry : *longest) {
    const bool allocates = entry.action == SnapshotAction::allocate;
    history.timed = history.timed || entry.at;
    history.out_of_memory += entry.action == SnapshotAction::out_of_memory ? 1 : 0;
    if (!allocates && entry.action != SnapshotAction::complete_free) continue;
    if (allocates) {
      operations.add(history.log.size());
      const Place& place = places.of(entry);
      place.again ? loops.add_again(place.lines) : loops.add(place.lines, place.in_block);
    }
    // Entries are in the order in which they were made, whatever their clock says.
    const Nanos before = history.log.empty() ? Nanos{} : history.log.back().at;
    history.log.push_back({std::max(before, entry.at.value_or(Nanos{})), entry.address,
                           allocates ? entry.bytes : -entry.bytes, nobody});
  }
  operations.end(history.log.size());
  take_passes(loops.turns(), operations, history);
  history.again = reruns_of(loops.reruns(), operations, history);
  const auto own = [&](std::size_t first, std::size_t last, std::uint32_t block) {
    for (std::size_t i = first; i < last; ++i) history.log[i].owner = block;
  };
  for (const SnapshotPass& pass : history.passes) own(pass.first, pass.last, pass.block);
  for (const SnapshotRerun& rerun : history.again.reruns)
    own(rerun.first, rerun.last, history.passes[rerun.pass].block);
  return history;
}

std::vector<MemorySample> reserved_curve(const std::vector<SnapshotEntry>& entries, Bytes end) {
  std::vector<MemorySample> curve;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const bool maps = entry->action == SnapshotAction::map_segment;
    if (!maps && entry->action != SnapshotAction::unmap_segment) continue;
    curve.push_back({entry->at.value_or(Nanos{}), end});
    end += maps ? -entry->bytes : entry->bytes;
  }
  curve.push_back({entries.empty() ? Nanos{} : entries.front().at.value_or(Nanos{}), end});
  std::reverse(curve.begin(), curve.end());
  return curve;
}

}  // namespace stowage
