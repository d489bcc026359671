// Why a plan costs what it costs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/prediction.h"
#include "plan/block_table.h"
#include "simulator/composition.h"

namespace stowage {

// The instant at which most is on the device, and what that is.
struct PeakMoment {
  Bytes bytes;
  std::string step;  // "the backward of block 3"; empty between steps
  struct Part {
    BufferKind kind;
    Bytes bytes;
  };
  std::vector<Part> parts;  // most first; none where the step did not run to its end
};

// Compute that stood still, by cause.
struct Wait {
  StallCause cause;
  Nanos time;
  std::optional<std::uint32_t> block;  // that waited longest
  Nanos longest;
};

PeakMoment peak_moment(const Predicted& predicted);
std::vector<Wait> waiting(const Timeline& timeline);  // longest first

// "saved activations", for people.
const char* words_of(BufferKind kind);
// "for restored activations"
const char* words_of(StallCause cause);

}  // namespace stowage
