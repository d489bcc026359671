// Trains a small model for a few steps, plainly or under programs, and keeps all that could differ.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "plan/program.h"
#include "plan/settings.h"
#include "runtime/arena.h"
#include "runtime/executor.h"
#include "runtime/optimizer.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage {

// 1 GB/s each way, 10 us of latency, 1 GiB of device memory unless said otherwise.
Machine test_machine(Bytes device_memory = {1 << 30});

// What training left: everything is a copy.
struct Training {
  std::vector<double> losses;
  std::vector<std::vector<at::Tensor>> gradients;  // by step, in the order of updates
  std::vector<at::Tensor> parameters;              // in the end
  at::Tensor next_draw;                            // from the random generator
};

// The first difference in words; empty where all bits are equal.
std::string difference(const Training& a, const Training& b);

// Keeps a copy of each gradient, then updates.
class WatchedOptimizer final : public Optimizer {
 public:
  explicit WatchedOptimizer(const std::vector<at::Tensor>& parameters);
  void update(std::size_t index, at::Tensor value, const at::Tensor& gradient) override;
  std::vector<at::Tensor> take_gradients();

 private:
  AdamW adamw_;
  std::vector<at::Tensor> gradients_;
};

using MakeChain = std::function<std::unique_ptr<Chain>()>;
using MakeBatch = std::function<State(int step)>;

// A single LibTorch graph over the whole chain, one for each micro-batch; micro-batch i of step s is batch
// s * accumulate + i.
Training train_plainly(const MakeChain& make_chain, const MakeBatch& batch, int steps, int accumulate = 1);
// Under one program after the other, in turns. Each step's report goes to `see`. Throws where a step ran out
// of memory.
Training train(const MakeChain& make_chain, const MakeBatch& batch, int steps, Device& device,
               const std::vector<Program>& programs, const std::function<void(const StepReport&)>& see = {});

Settings settings_with(Policy policy, std::int64_t interval = 1, std::optional<std::int64_t> stride = {},
                       Segmenting segmenting = Segmenting::contiguous);
// A profile of nothing but `blocks` blocks: enough to compile plans that move nothing.
Profile bare_profile(std::uint32_t blocks);
Program program_of(const Profile& profile, const Settings& settings);

// Sizes as they are, from one step that keeps everything and one that recomputes; times are made up.
Profile size_up(Executor& executor, Chain& chain, const State& batch, MemoryPool& memory = Arena::instance());

}  // namespace stowage
