#include "traces/import/snapshot_journal.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace stowage {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t small_total = 2 * mebibyte, shared_total = 20 * mebibyte;

// A block that was in use when the recording began.
struct OpeningBlock {
  Bytes bytes;
  bool exact;  // else as requested, rounded: the allocator may have left it more
};

// Older snapshots have no addresses; and no device has such sizes.
bool can_be_rebuilt(const SnapshotSegment& segment) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  return !segment.expandable && segment.address != 0 && segment.address < static_cast<std::uint64_t>(most) &&
         segment.total.value < most;
}

class SnapshotJournalist {
 public:
  SnapshotJournalist(const Snapshot& snapshot, std::size_t device) : history_(snapshot.history[device]) {
    for (const SnapshotSegment& segment : snapshot.segments)
      if (segment.device == static_cast<std::int64_t>(device)) add_segment(segment);
    note_operations();
    go_back();
  }

  SnapshotJournal write() {
    for (const auto& [address, segment] : segments_) {
      out_.segments.push_back(segment);
      out_.segments.back().stream = stream_of(segment.stream);
      open(segment);
    }
    for (const auto& [buffer, stream] : holes_) put({{}, buffer, false, {}, stream}, 0);
    out_.recorded = out_.journal.entries.size();
    for (const SnapshotEntry& entry : history_) put(entry);
    return std::move(out_);
  }

 private:
  void add_segment(const SnapshotSegment& segment) {
    segments_[segment.address] = segment;
    segments_[segment.address].large = segment.total.value != small_total;
    for (const SnapshotBlock& block : segment.blocks)
      if (block.live) live_[block.address] = {block.bytes, true};
  }

  // When each address was first allocated and first freed.
  void note_operations() {
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (history_[i].action == SnapshotAction::allocate) allocated_.try_emplace(history_[i].address, i);
      if (history_[i].action == SnapshotAction::complete_free) freed_.try_emplace(history_[i].address, i);
    }
  }

  // From the state at the end to that at the beginning.
  void go_back() {
    for (auto entry = history_.rbegin(); entry != history_.rend(); ++entry) {
      if (entry->action == SnapshotAction::allocate)
        live_.erase(entry->address);
      else if (entry->action == SnapshotAction::complete_free)
        live_[entry->address] = {{(entry->bytes.value + 511) / 512 * 512}, false};
      else if (entry->action == SnapshotAction::map_segment)
        segments_.erase(entry->address);
      else if (entry->action == SnapshotAction::unmap_segment)
        segments_[entry->address] = released(*entry);
    }
  }

  static SnapshotSegment released(const SnapshotEntry& entry) {
    SnapshotSegment segment;
    segment.stream = entry.stream;
    segment.address = entry.address;
    segment.total = entry.bytes;
    segment.large = entry.bytes.value != small_total;
    return segment;
  }

  // A block that ends at `end`, before one that begins at `next`. A request may be given up to a mebibyte
  // more than it needs; a hole after it then begins later, which shows where something was put into it.
  std::uint64_t end_of(std::uint64_t address, const OpeningBlock& block, std::uint64_t next,
                       bool small) const {
    const std::uint64_t end = address + static_cast<std::uint64_t>(block.bytes.value);
    if (block.exact || small || allocated_.count(end)) return end;
    if (next - end <= mebibyte) return next;
    const auto inside = allocated_.upper_bound(end);
    const auto freed = freed_.find(address);
    const bool shows = inside != allocated_.end() && inside->first - end <= mebibyte &&
                       inside->first < next && freed != freed_.end() && inside->second < freed->second;
    return shows ? inside->first : end;
  }

  void open(const SnapshotSegment& segment) {
    const bool small = !segment.large;
    const std::uint64_t last = segment.address + static_cast<std::uint64_t>(segment.total.value);
    const std::uint32_t taker = take(segment, small                                 ? Bytes{512}
                                              : segment.total.value == shared_total ? Bytes{9 * mebibyte}
                                                                                    : segment.total);
    put({{}, taker, false, {}, stream_of(segment.stream)}, 0);
    std::uint64_t at = segment.address;
    for (auto block = live_.lower_bound(segment.address); block != live_.end() && block->first < last;
         ++block) {
      take_hole(segment, at, block->first, small);
      const auto following = std::next(block);
      const std::uint64_t next = following == live_.end() ? last : std::min(following->first, last);
      at = end_of(block->first, block->second, next, small);
      buffers_[block->first] = take(segment, {static_cast<std::int64_t>(at - block->first)});
    }
    take_hole(segment, at, last, small);
  }
  void take_hole(const SnapshotSegment& segment, std::uint64_t begin, std::uint64_t end, bool small) {
    while (begin < end) {
      const std::uint64_t most = small ? mebibyte : end - begin;
      const std::uint64_t size = std::min(most, end - begin);
      holes_.push_back({take(segment, {static_cast<std::int64_t>(size)}), stream_of(segment.stream)});
      begin += size;
    }
  }
  std::uint32_t take(const SnapshotSegment& segment, Bytes bytes) {
    put({{}, next_, true, bytes, stream_of(segment.stream)}, 0);
    return next_++;
  }

  void put(const SnapshotEntry& entry) {
    const std::uint32_t stream = stream_of(entry.stream);
    if (entry.at && history_.front().at) now_ = std::max(now_, *entry.at - *history_.front().at);
    if (entry.action == SnapshotAction::allocate) {
      buffers_[entry.address] = next_;
      put({now_, next_++, true, entry.bytes, stream}, entry.address);
    } else if (entry.action == SnapshotAction::complete_free) {
      const auto buffer = buffers_.find(entry.address);
      if (buffer == buffers_.end()) return;
      put({now_, buffer->second, false, {}, stream}, entry.address);
      buffers_.erase(buffer);
    }
  }
  void put(const JournalEntry& entry, std::uint64_t address) {
    out_.journal.entries.push_back(entry);
    out_.addresses.push_back(address);
  }

  std::uint32_t stream_of(std::int64_t stream) {
    const auto [found, added] =
        streams_.try_emplace(stream, static_cast<std::uint32_t>(out_.journal.streams.size()));
    if (added) out_.journal.streams.push_back("stream " + std::to_string(stream));
    return found->second;
  }

  const std::vector<SnapshotEntry>& history_;
  std::map<std::uint64_t, SnapshotSegment> segments_;
  std::map<std::uint64_t, OpeningBlock> live_;
  std::map<std::uint64_t, std::size_t> allocated_;
  std::unordered_map<std::uint64_t, std::size_t> freed_;
  std::unordered_map<std::uint64_t, std::uint32_t> buffers_;    // alive, by address
  std::vector<std::pair<std::uint32_t, std::uint32_t>> holes_;  // buffer and stream
  std::map<std::int64_t, std::uint32_t> streams_;
  std::uint32_t next_ = 0;
  Nanos now_;
  SnapshotJournal out_;
};

}  // namespace

std::optional<SnapshotJournal> journal_of(const Snapshot& snapshot) {
  const auto longest = std::max_element(snapshot.history.begin(), snapshot.history.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (longest == snapshot.history.end() || longest->empty() || snapshot.cut) return std::nullopt;
  if (!std::all_of(snapshot.segments.begin(), snapshot.segments.end(), can_be_rebuilt)) return std::nullopt;
  return SnapshotJournalist(snapshot, static_cast<std::size_t>(longest - snapshot.history.begin())).write();
}

}  // namespace stowage
