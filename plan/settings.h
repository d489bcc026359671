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

// What happens to swapped weights: `h2d` drops them after a use (they are frozen), `two_way` stores them, and
// `stream` brings each layer's by themselves and drops them (frozen, too).
enum class SwapMode : std::uint8_t { h2d, two_way, stream };

struct SwapSettings {
  std::int64_t blocks = 0;
  SwapWhich which = SwapWhich::last;
  SwapMode mode = SwapMode::h2d;
  std::int64_t keep = 0;  // of `stream`: the last layers, which stay from the forward pass to the backward
  std::optional<Bytes> keep_max = {};  // as many of them as fit in this; absent: all

  bool operator==(const SwapSettings&) const = default;
};

// How copies are issued. Part of every plan, of free ones too.
struct TransferSettings {
  std::int64_t prefetch = 1;  // how many restores, and loads, are issued ahead of the one in use
  std::int64_t h2d_streams = 1, d2h_streams = 1;
  std::optional<std::int64_t> max_buckets;  // absent: no limit
  std::optional<Bytes> pinned_max;
  // Activations that the host keeps of a pass; what is sent to it over this goes on to the disk, which is
  // what was sent first, as it comes back last. Absent: all stay.
  std::optional<Bytes> disk_over = {};

  bool operator==(const TransferSettings&) const = default;
};

// Where optimizer states live, and where the optimizer runs.
//   device    states on the device
//   host      both on the host: gradients go there, weights come back
//   streamed  states on the host; each block's come to the device for its update, and go back
//   disk      the same with states on the disk, through the host
enum class OptimizerPlace : std::uint8_t { device, host, streamed, disk };

inline bool streams_states(OptimizerPlace place) {
  return place == OptimizerPlace::streamed || place == OptimizerPlace::disk;
}

// What a step does around its blocks. Part of every plan, of free ones too.
struct StepSettings {
  std::int64_t accumulate = 1;  // micro-batches, each forward and back, before the optimizer runs once
  OptimizerPlace optimizer = OptimizerPlace::device;

  bool operator==(const StepSettings&) const = default;
};

struct Settings {
  Policy policy = Policy::keep;
  std::int64_t interval = 1;
  std::optional<std::int64_t> stride;  // absent: the interval
  Segmenting segmenting = Segmenting::contiguous;
  std::optional<Scope> scope;  // what of a block is recomputed or offloaded; absent: all of it
  SwapSettings swap;
  TransferSettings transfer;
  StepSettings step;

  bool operator==(const Settings&) const = default;
};

// Throws InputError naming the setting ("stride") where a value is out of its range or contradicts another.
void check(const Settings& settings);

// One line in the words of the command line, defaults left out: "recompute, interval 2, stride 4, swap 3
// last".
std::string describe(const Settings& settings);

}  // namespace stowage
