// Text to train on: any file, read as bytes, a token each.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/chain.h"

namespace stowage {

struct BatchShape {
  std::int64_t batch, context;
};

class Corpus {
 public:
  // Reads the whole file. Throws SystemError if it cannot be read, InputError if it is shorter than one
  // sequence and the byte that follows it.
  Corpus(const std::string& file, BatchShape shape);

  // {tokens, targets}, int64 [batch, context]; a target is the byte after its token. Sequences begin at
  // places drawn from the seed and the step alone, so that any step can be drawn again, in any order.
  State batch(std::uint64_t seed, std::uint64_t step) const;

  std::size_t size() const { return text_.size(); }

 private:
  std::string text_;
  BatchShape shape_;
};

}  // namespace stowage
