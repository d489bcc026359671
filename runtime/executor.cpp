#include "runtime/executor.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <string>

#include "runtime/random_state.h"
#include "runtime/step_run.h"
#include "runtime/step_state.h"
#include "traces/error.h"

namespace stowage {
namespace {

// What the program does with the weights of one block.
struct WeightMoves {
  WeightHome home = WeightHome::device;
  bool loads = false, stores = false;
};

std::vector<WeightMoves> weight_moves(const Program& program, std::uint32_t blocks) {
  std::vector<WeightMoves> moves(blocks);
  for (BufferId id : program.initial) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.kind == BufferKind::weights && buffer.space == Space::host)
      moves[*buffer.block].home = WeightHome::host;
  }
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::load_weights) {
      moves[*step.block].loads = true;
      if (step.layer) moves[*step.block].home = WeightHome::host_by_layer;
    }
    if (step.kind == StepKind::store_weights) moves[*step.block].stores = true;
  }
  return moves;
}

void check_size(const Program& program, std::size_t blocks, std::size_t batches) {
  std::size_t micro_batches = 0, blocks_run = 0;
  for (const Step& step : program.lane(Lane::compute)) {
    micro_batches += step.kind == StepKind::prologue;
    if (step.kind == StepKind::forward) blocks_run = std::max<std::size_t>(blocks_run, *step.block + 1);
  }
  if (blocks_run != blocks)
    throw InputError("program", "blocks",
                     std::to_string(blocks_run) + ", the model has " + std::to_string(blocks));
  if (micro_batches != batches)
    throw InputError(
        "program", "accumulate",
        std::to_string(micro_batches) + ", but there are " + std::to_string(batches) + " batches");
}

[[noreturn]] void refuse(const char* setting, const std::string& reason) {
  throw InputError("program", setting, reason);
}

// What the simulator knows and this interpreter does not.
void check_known(const Program& program) {
  for (const Step& step : program.steps) {
    if (of_disk(step.lane))
      refuse("disk_over_bytes", "nothing is put on a disk: expected none, and all offloaded on the host");
    if (step.kind == StepKind::store_gradient || step.kind == StepKind::load_state)
      refuse("optimizer", "the optimizer runs where the parameters are: expected \"device\"");
  }
}

// Weights that are dropped after use must not have changed.
void check_updates_survive(const std::vector<WeightMoves>& moves, Model& model) {
  for (std::uint32_t i = 0; i < model.size(); ++i) {
    const bool by_layer = moves[i].home == WeightHome::host_by_layer;
    const bool trained = by_layer ? model.weights(i).trains_layers() : model.weights(i).trained();
    if (moves[i].loads && !moves[i].stores && trained)
      refuse("swap_mode", std::string(by_layer ? "\"stream\"" : "\"h2d\"") + " drops the weights of block " +
                              std::to_string(i) + " after use, but they are trained: expected \"two-way\"");
  }
}

}  // namespace

Executor::Executor(Chain& chain, Device& device) : device_(device), model_(chain, device) {}

StepResult Executor::run(const Program& program, std::span<const State> batches, Optimizer& optimizer) {
  check_known(program);
  check_size(program, model_.size(), batches.size());
  const std::vector<WeightMoves> moves = weight_moves(program, model_.size());
  check_updates_survive(moves, model_);
  for (std::uint32_t i = 0; i < model_.size(); ++i) model_.weights(i).move_to(moves[i].home);
  device_.host_memory().begin_step(program.pinned);
  model_.drop_gradients();
  // Whatever happens: what the program left half done on the device goes, the host's weights are good.
  const auto tidy_up = c10::make_scope_exit([&] {
    model_.drop_gradients();
    for (std::uint32_t i = 0; i < model_.size(); ++i) model_.weights(i).leave_device();
  });
  const at::AutoGradMode with_gradients(true);
  const RandomState random = RandomState::now();
  StepState state(model_, batches, listener_);
  StepRun step(program, device_, model_, state, optimizer, orders_);
  if (refuse_excess_) step.refuse_excess();
  try {
    return step.run();
  } catch (const MemoryRefused& refused) {
    random.put_back();
    return Shortage{step.current(), refused.refusal()};
  } catch (...) {
    random.put_back();
    throw;
  }
}

std::vector<at::Tensor> Executor::trained() const {
  std::vector<at::Tensor> parameters;
  for (const Model::Trained& trained : model_.trained()) parameters.push_back(trained.parameter);
  return parameters;
}

void Executor::bring_weights_home() {
  for (std::uint32_t i = 0; i < model_.size(); ++i) model_.weights(i).move_to(WeightHome::device);
}

}  // namespace stowage
