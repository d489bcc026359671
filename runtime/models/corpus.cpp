#include "runtime/models/corpus.h"

#include <ATen/ATen.h>

#include <random>

#include "traces/error.h"
#include "traces/file.h"

namespace stowage {
namespace {

std::mt19937_64 random_for(std::uint64_t seed, std::uint64_t step) {
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)};
  return std::mt19937_64(sequence);
}

}  // namespace

Corpus::Corpus(const std::string& file, BatchShape shape) : text_(read_file(file)), shape_(shape) {
  const auto least = static_cast<std::size_t>(shape.context) + 1;
  if (text_.size() < least)
    throw InputError(file, "",
                     "expected at least " + std::to_string(least) +
                         " bytes of text, one more than the model's context; it has " +
                         std::to_string(text_.size()));
}

State Corpus::batch(std::uint64_t seed, std::uint64_t step) const {
  std::mt19937_64 random = random_for(seed, step);
  const auto places = text_.size() - static_cast<std::size_t>(shape_.context);
  const at::Tensor tokens = at::empty({shape_.batch, shape_.context}, at::kLong);
  const at::Tensor targets = at::empty_like(tokens);
  auto* token = tokens.data_ptr<std::int64_t>();
  auto* target = targets.data_ptr<std::int64_t>();
  for (std::int64_t sequence = 0; sequence < shape_.batch; ++sequence) {
    // The remainder, not std::uniform_int_distribution, which differs between standard libraries.
    const char* begin = text_.data() + random() % places;
    for (std::int64_t i = 0; i < shape_.context; ++i) {
      *token++ = static_cast<unsigned char>(begin[i]);
      *target++ = static_cast<unsigned char>(begin[i + 1]);
    }
  }
  return {tokens, targets};
}

}  // namespace stowage
