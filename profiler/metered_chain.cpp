#include "profiler/metered_chain.h"

#include <chrono>

#include "runtime/held_state.h"
#include "traces/error.h"

namespace stowage {
namespace {

using Clock = std::chrono::steady_clock;

// Splits the time of its life among the scopes that this thread is in.
class ScopeWatch final : public ScopeListener {
 public:
  explicit ScopeWatch(BlockPass& pass) : pass_(pass), outer_(listen_to_scopes(this)), since_(Clock::now()) {}
  ~ScopeWatch() override {
    book(current_scope());
    listen_to_scopes(outer_);
  }

  void on_change(Scope from, Scope) override { book(from); }

 private:
  void book(Scope scope) {
    const Clock::time_point now = Clock::now();
    std::optional<Nanos>& total = pass_.by_scope[static_cast<std::size_t>(scope)];
    total = total.value_or(Nanos{}) + Nanos{std::chrono::nanoseconds(now - since_).count()};
    since_ = now;
  }

  BlockPass& pass_;
  ScopeListener* const outer_;
  Clock::time_point since_;
};

}  // namespace

class MeteredBlock final : public WrappedBlock {
 public:
  using WrappedBlock::WrappedBlock;

  State forward(const State& input) override {
    BlockPass pass;
    pass.input = storage_bytes(input);
    State output;
    {
      // Where the device works behind this thread's back, its calls take another time than what they start.
      std::optional<ScopeWatch> watch;
      if (input.front().is_cpu()) watch.emplace(pass);
      output = inner_.forward(input);
    }
    pass.output = storage_bytes(output);
    pass.handed_on = shared_bytes(input, output);
    last_ = pass;
    return output;
  }

  const std::optional<BlockPass>& last() const { return last_; }

 private:
  std::optional<BlockPass> last_;
};

MeteredChain::MeteredChain(Chain& inner) : WrappedChain(inner) {
  for (ChainBlock* block : inner.blocks()) blocks_.push_back(std::make_unique<MeteredBlock>(*block));
}

MeteredChain::~MeteredChain() = default;

std::vector<ChainBlock*> MeteredChain::blocks() {
  std::vector<ChainBlock*> all;
  for (const auto& block : blocks_) all.push_back(block.get());
  return all;
}

const BlockPass& MeteredChain::last_pass(std::size_t block) const {
  const std::optional<BlockPass>& last = blocks_.at(block)->last();
  if (!last) throw DefectError("no pass went through block " + std::to_string(block));
  return *last;
}

}  // namespace stowage
