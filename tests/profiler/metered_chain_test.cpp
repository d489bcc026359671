#include "profiler/metered_chain.h"

#include <ATen/ATen.h>

#include <chrono>
#include <thread>

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// Doubles the width; spends at least 4 ms in attention and 2 ms outside of any scope.
class SlowBlock final : public ChainBlock {
 public:
  State forward(const State& input) override {
    {
      const ScopeGuard scope(Scope::attention);
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return {at::cat({input[0], input[0]})};
  }
  BlockParameters parameters() const override { return {}; }
  std::string group() const override { return "slow"; }
};

class OneBlock final : public Chain {
 public:
  std::vector<ChainBlock*> blocks() override { return {&block_}; }
  State prologue(const State& batch) override { return batch; }
  at::Tensor epilogue(const State& output, const State&) override { return output[0].sum(); }
  std::vector<at::Tensor> outer_parameters() const override { return {}; }

 private:
  SlowBlock block_;
};

}  // namespace

TEST_CASE("a metered block does the same and notes sizes and times by scope") {
  OneBlock inner;
  MeteredChain chain(inner);
  REQUIRE_THROWS_AS(chain.last_pass(0), DefectError);
  ChainBlock& block = *chain.blocks()[0];
  REQUIRE(block.group() == "slow");
  const State output = block.forward({at::ones({5})});
  REQUIRE(at::equal(output[0], at::ones({10})));

  const BlockPass& pass = chain.last_pass(0);
  REQUIRE(pass.input.value == 20);   // 5 x 4
  REQUIRE(pass.output.value == 40);  // 10 x 4
  REQUIRE(pass.by_scope[0].value() >= Nanos{4'000'000});
  REQUIRE(!pass.by_scope[1]);  // never in the feed-forward
  REQUIRE(pass.by_scope[2].value() >= Nanos{2'000'000});
}

TEST_CASE("whoever listened to scopes before does so afterwards") {
  struct Counter : ScopeListener {
    int changes = 0;
    void on_change(Scope, Scope) override { ++changes; }
  } counter;
  listen_to_scopes(&counter);
  OneBlock inner;
  MeteredChain chain(inner);
  chain.blocks()[0]->forward({at::ones({1})});
  REQUIRE(listen_to_scopes(nullptr) == &counter);
}
