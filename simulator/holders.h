// Counts who still holds the buffers of a program that several states share.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace stowage {

// Reuses its memory. Most programs share nothing, and then this costs nothing.
class Holders {
 public:
  void open(const Program& program) {
    left_.clear();
    if (!program.shares) return;
    for (const Buffer& buffer : program.buffers) left_.push_back(buffer.holders);
  }
  // A holder lets go of the buffer: whether that was the last one.
  bool last_lets_go(BufferId buffer) { return left_.empty() || --left_[buffer] == 0; }

 private:
  std::vector<std::uint32_t> left_;  // empty where nothing is shared
};

}  // namespace stowage
