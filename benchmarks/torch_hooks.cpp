// What it costs that the runtime decides about a saved tensor: nanoseconds for each, to save it and to get it
// back, over what plain autograd takes, beside a hook that does next to nothing.
//
//   torch_hooks [ROUNDS]
//
// Operators on eight floats each save one tensor. All ways take turns in each round; the figure is the median
// over rounds of the difference to plain autograd, of this thread's processor time.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "benchmarks/machine_name.h"
#include "benchmarks/processor_time.h"
#include "runtime/arena.h"
#include "runtime/saved_tensors.h"
#include "runtime/saving.h"
#include "traces/units.h"
#include "tuner/middle.h"

using namespace stowage;

namespace {

constexpr int saves = 1000;

class HoldingHandler final : public SaveHandler {
 public:
  std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() override {
    return std::make_unique<Hooks>();
  }

 private:
  struct Hooks final : torch::autograd::SavedVariableHooks {
    void call_pack_hook(const at::Tensor& tensor) override { held = tensor.detach(); }
    at::Tensor call_unpack_hook() override { return held; }
    at::Tensor held;
  };
};

// Each operator saves what it makes.
at::Tensor of_new_storages(at::Tensor x, const at::Tensor&) {
  for (int i = 0; i < saves; ++i) x = x.sigmoid();
  return x;
}

// Each saves the same factor.
at::Tensor of_one_storage(at::Tensor x, const at::Tensor& factor) {
  for (int i = 0; i < saves; ++i) x = x * factor;
  return x;
}

using Work = at::Tensor (*)(at::Tensor, const at::Tensor&);

Nanos time_of(Work work, SaveHandler* handler) {
  const at::Tensor x = at::ones({8}).set_requires_grad(true), factor = at::ones({8});
  const at::Tensor ones = at::ones({8});
  const double begin = benchmarks::processor_seconds();
  at::Tensor y;
  if (handler) {
    const SaveGuard guard(*handler);
    y = work(x, factor);
  } else {
    y = work(x, factor);
  }
  y.backward(ones);
  return {static_cast<std::int64_t>((benchmarks::processor_seconds() - begin) * 1e9)};
}

void measure(const char* name, Work work, int rounds) {
  const std::unordered_set<StorageKey> parameters;
  const HeldState input;
  std::array<std::vector<Nanos>, 3> taken;
  for (int round = -20; round < rounds; ++round)
    for (int turn = 0; turn < 3; ++turn) {
      const int way = (turn + round + 21) % 3;
      HoldingHandler holding;
      const auto ours = std::make_shared<SavedTensors>(0, parameters, input, nullptr);
      SaveHandler* const handlers[] = {nullptr, &holding, ours.get()};
      const Nanos time = time_of(work, handlers[way]);
      if (round >= 0) taken[static_cast<std::size_t>(way)].push_back(time);
    }
  const auto each = [](std::vector<Nanos> times) {
    return static_cast<double>(middle_of(std::move(times)).value) / saves;
  };
  const auto over_plain = [&](std::size_t way) {
    std::vector<Nanos> more;
    for (std::size_t i = 0; i < taken[0].size(); ++i) more.push_back(taken[way][i] - taken[0][i]);
    return each(std::move(more));
  };
  std::printf("  %-18s operator, plain %5.0f ns; a hook that holds %+5.0f ns; the runtime's %+5.0f ns\n",
              name, each(taken[0]), over_plain(1), over_plain(2));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 300;
  Arena::instance().install();
  std::printf("%s; %d rounds of %d saved tensors\n", benchmarks::machine_name().c_str(), rounds, saves);
  measure("new storages", of_new_storages, rounds);
  measure("one storage again", of_one_storage, rounds);
  return 0;
}
