// What one device's allocator was asked for, and what that meant in bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "traces/timeline.h"
#include "traces/units.h"

namespace stowage {

// An allocation (positive bytes) or a free (negative), in time order in a log.
struct MemoryOperation {
  Nanos at;
  std::uint64_t address;  // 0: not told, and then never matched with another
  Bytes bytes;
  std::uint32_t owner = 0;  // of an allocation: whom to charge at the peak
};

struct MemoryAccount {
  Bytes start;  // live before the first operation
  Bytes peak, end;
  Nanos peak_at;
  std::vector<Bytes> owners;        // what each had live at the peak; what was live at the start is nobody's
  std::int64_t unknown_frees = 0;   // of addresses that were not seen allocated: live before the log, or lost
  std::int64_t double_frees = 0;    // of addresses that were free already: without effect
  std::vector<MemorySample> curve;  // after each operation
};

// Adds up a log. `start` is the level before it, where that is known; what unknown frees release was then
// part of it. Where it is not known it counts as 0, and so do unknown frees. `owners`: how many there are.
MemoryAccount account(const std::vector<MemoryOperation>& log, std::optional<Bytes> start,
                      std::size_t owners);

// The same for a log that is nowhere as a whole: `operation` is asked for each of `count`, once and in order.
MemoryAccount account(std::size_t count, const std::function<MemoryOperation(std::size_t)>& operation,
                      std::optional<Bytes> start, std::size_t owners);

// Where each allocation of a log ends: the next free of its address; the log's size where there is none.
std::vector<std::size_t> ends_of(const std::vector<MemoryOperation>& log);

// The level before a log that ends with `end` live bytes: frees without effect do not count.
Bytes level_before(const std::vector<MemoryOperation>& log, Bytes end);

}  // namespace stowage
