// A chain that does what the one it wraps does, and notes what enters and leaves each block and how long the
// parts of each block take.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scope.h"
#include "runtime/wrapped_chain.h"
#include "traces/units.h"

namespace stowage {

// One forward pass through a block.
struct BlockPass {
  Bytes input, output, handed_on;                          // handed_on: of both
  std::array<std::optional<Nanos>, scope_count> by_scope;  // absent where the block never was
};

class MeteredBlock;

// `inner` must outlive it.
class MeteredChain final : public WrappedChain {
 public:
  explicit MeteredChain(Chain& inner);
  ~MeteredChain() override;

  std::vector<ChainBlock*> blocks() override;

  // The last pass through a block; throws DefectError where there was none.
  const BlockPass& last_pass(std::size_t block) const;

 private:
  std::vector<std::unique_ptr<MeteredBlock>> blocks_;
};

}  // namespace stowage
