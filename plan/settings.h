// Settings as trainers' users know them: a handful of numbers that decide for all blocks at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/profile.h"
#include "traces/units.h"

namespace stowage {

enum class Policy : std::uint8_t { keep, recompute, offload, recompute_offload };

// How interval w and stride s choose blocks i (counted from the start of their group).
//   contiguous  segments start at 0, s, 2s, ... and hold the next w blocks:  w=2 s=3   [0 1] 2 [3 4] 5
//   every-nth   each chosen block is a segment of its own: without a stride i mod w = 0, with one i mod s < w
enum class Segmenting : std::uint8_t { contiguous, every_nth };

enum class SwapWhich : std::uint8_t { last, first, spread };

// What happens to swapped weights after a use: `h2d` drops them (they are frozen), `two_way` stores them.
enum class SwapMode : std::uint8_t { h2d, two_way };

struct SwapSettings {
  std::int64_t blocks = 0;
  SwapWhich which = SwapWhich::last;
  SwapMode mode = SwapMode::h2d;

  bool operator==(const SwapSettings&) const = default;
};

// How copies are issued. Part of every plan, of free ones too.
struct TransferSettings {
  std::int64_t prefetch = 1;  // how many restores, and loads, are issued ahead of the one in use
  std::int64_t h2d_streams = 1, d2h_streams = 1;
  std::optional<std::int64_t> max_buckets;  // absent: no limit
  std::optional<Bytes> pinned_max;

  bool operator==(const TransferSettings&) const = default;
};

struct Settings {
  Policy policy = Policy::keep;
  std::int64_t interval = 1;
  std::optional<std::int64_t> stride;  // absent: the interval
  Segmenting segmenting = Segmenting::contiguous;
  std::optional<Scope> scope;  // what of a block is recomputed or offloaded; absent: all of it
  SwapSettings swap;
  TransferSettings transfer;

  bool operator==(const Settings&) const = default;
};

// Throws InputError naming the setting ("stride") where a value is out of its range or contradicts another.
void check(const Settings& settings);

// One line in the words of the command line, defaults left out: "recompute, interval 2, stride 4, swap 3
// last".
std::string describe(const Settings& settings);

}  // namespace stowage
