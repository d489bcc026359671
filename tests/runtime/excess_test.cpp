// A model that keeps what the plan drops is found before memory runs out.
#include "runtime/excess.h"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/host_device.h"
#include "runtime/wrapped_chain.h"
#include "tests/catch.h"
#include "tests/runtime/layered_chain.h"
#include "tests/runtime/small_transformer.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// Runs a block of another chain, and from a block on holds on to tensors of its own, as a cache that was left
// on does.
class HoardingBlock final : public WrappedBlock {
 public:
  HoardingBlock(ChainBlock& block, std::int64_t bytes) : WrappedBlock(block), bytes_(bytes) {}
  State forward(const State& input) override {
    if (bytes_ > 0) hoard_.push_back(at::empty({bytes_}, at::kByte));
    return inner_.forward(input);
  }

 private:
  const std::int64_t bytes_;
  std::vector<at::Tensor> hoard_;
};

class HoardingChain final : public WrappedChain {
 public:
  HoardingChain(std::unique_ptr<Chain> chain, std::size_t from, std::int64_t bytes)
      : WrappedChain(*chain), chain_(std::move(chain)) {
    for (ChainBlock* block : chain_->blocks())
      blocks_.push_back(std::make_unique<HoardingBlock>(*block, blocks_.size() >= from ? bytes : 0));
  }
  std::vector<ChainBlock*> blocks() override {
    std::vector<ChainBlock*> all;
    for (const auto& block : blocks_) all.push_back(block.get());
    return all;
  }

 private:
  std::unique_ptr<Chain> chain_;
  std::vector<std::unique_ptr<HoardingBlock>> blocks_;
};

// What the step says, "" where it ran.
std::string refusal_of(HoardingChain& chain, const Program& program, const State& batch, Device& device) {
  Executor executor(chain, device);
  executor.refuse_excess();
  AdamW optimizer(executor.trained(), {});
  try {
    executor.run(program, batch, optimizer);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string refusal(Policy policy, std::size_t from, std::int64_t bytes) {
  HostDevice device(test_machine());
  Settings settings;
  settings.policy = policy;
  const Program program = program_of(small_profile(false, device), settings);
  HoardingChain chain(small_transformer(false)(), from, bytes);
  return refusal_of(chain, program, small_batch(0), device);
}

// The weights of every block come layer by layer.
std::string refusal_streaming(Policy policy, std::size_t from, std::int64_t bytes) {
  HostDevice device(test_machine());
  LayeredVariant variant;
  variant.lora = true;
  Settings settings;
  settings.policy = policy;
  settings.swap = {layered_blocks, SwapWhich::last, SwapMode::stream};
  const Program program = program_of(layered_profile(variant, device), settings);
  HoardingChain chain(layered_chain(variant)(), from, bytes);
  return refusal_of(chain, program, layered_batch(0), device);
}

}  // namespace

TEST_CASE("checkpointing that is not active is refused at the first block that keeps its tensors") {
  const std::string text = refusal(Policy::recompute, 2, 16 << 20);
  REQUIRE(text.find("block 2") != std::string::npos);
  REQUIRE(text.find("checkpointing is not active there") != std::string::npos);
  // 16 MiB of its own, and the output that any block leaves.
  REQUIRE(std::stoll(text.substr(text.find("keeps ") + 6)) > 16 << 20);
}

TEST_CASE("a block whose layers stream is held to the plan as a whole") {
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload}) {
    REQUIRE(refusal_streaming(policy, 0, 0) == "");
    REQUIRE(refusal_streaming(policy, 2, 1 << 20).find("block 2: keeps") != std::string::npos);
  }
}

TEST_CASE("a model that does as the plan says is not refused") {
  for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload})
    REQUIRE(refusal(policy, 0, 0) == "");
}
