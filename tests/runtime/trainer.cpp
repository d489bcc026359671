#include "tests/runtime/trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "profiler/assemble.h"
#include "profiler/layer_list.h"
#include "profiler/saved_list.h"
#include "profiler/scope_program.h"
#include "runtime/autocast.h"
#include "runtime/held_state.h"
#include "runtime/plain_step.h"
#include "runtime/same_bits.h"

namespace stowage {
namespace {

constexpr std::uint64_t seed = 7;

std::string difference(const std::string& what, const std::vector<at::Tensor>& a,
                       const std::vector<at::Tensor>& b) {
  if (a.size() != b.size())
    return what + ": " + std::to_string(a.size()) + " and " + std::to_string(b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return what + " " + std::to_string(i) + " differ";
  return "";
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

int micro_batches(const Program& program) {
  int count = 0;
  for (const Step& step : program.steps) count += step.kind == StepKind::prologue;
  return count;
}

StepReadings readings_of(const StepMemory& memory) {
  return {{{1000}}, memory.before, memory.peak, memory.after};
}

// What layers work in; those of a recomputing program are read in its first forwards.
void read_layers(const Program& program, const StepReport& report, std::vector<BlockReadings>& blocks) {
  for (const LayerUse& use : report.layers) {
    const Step& step = program.steps[use.step];
    BlockReadings& block = blocks[*step.block];
    LayerReadings& read = use.layer ? block.layers.at(*use.layer) : block.rest;
    if (step.kind == StepKind::forward)
      (step.saves ? read.forward_rise : read.dropped_rise) = use.rise;
    else if (step.kind == StepKind::backward)
      read.backward_rise = std::max(read.backward_rise, use.rise);
  }
}

std::vector<StepMemory> memory_of(const StepResult& result) {
  return std::get<StepReport>(result).memory;
}

}  // namespace

Machine test_machine(Bytes device_memory) {
  Machine machine;
  machine.name = "test";
  machine.device.memory = device_memory;
  machine.host = {{std::int64_t{1} << 32}, {std::int64_t{1} << 32}, PinnedRounding::exact};
  machine.links.h2d = machine.links.d2h = {{1'000'000'000}, {10'000}};
  machine.links.pageable = {1'000'000'000};
  return machine;
}

std::string difference(const Training& a, const Training& b) {
  if (a.losses != b.losses) return "losses differ";
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const std::string what = "gradients of step " + std::to_string(i);
    if (const std::string found = difference(what, a.gradients[i], b.gradients[i]); !found.empty())
      return found;
  }
  if (const std::string found = difference("parameters", a.parameters, b.parameters); !found.empty())
    return found;
  return same_bits(a.next_draw, b.next_draw) ? "" : "next draws differ";
}

WatchedOptimizer::WatchedOptimizer(const std::vector<at::Tensor>& parameters)
    : adamw_(parameters, AdamWOptions{}), gradients_(parameters.size()) {}

void WatchedOptimizer::update(std::size_t index, at::Tensor value, const at::Tensor& gradient) {
  gradients_[index] = gradient.clone();
  adamw_.update(index, value, gradient);
}

std::vector<at::Tensor> WatchedOptimizer::take_gradients() {
  std::vector<at::Tensor> taken(gradients_.size());
  taken.swap(gradients_);
  return taken;
}

Training train_plainly(const MakeChain& make_chain, const MakeBatch& batch, int steps, int accumulate) {
  const auto chain = make_chain();
  std::vector<at::Tensor> trained = trained_parameters(*chain);
  WatchedOptimizer optimizer(trained);
  at::manual_seed(seed);
  Training training;
  for (int step = 0; step < steps; ++step) {
    training.losses.push_back(0);
    for (int i = 0; i < accumulate; ++i)
      training.losses.back() += plain_step(*chain, batch(step * accumulate + i));
    for (std::size_t i = 0; i < trained.size(); ++i) {
      at::Tensor& gradient = trained[i].mutable_grad();
      if (gradient.defined()) optimizer.update(i, trained[i].detach(), gradient);
      gradient.reset();
    }
    training.gradients.push_back(optimizer.take_gradients());
  }
  training.parameters = copies(trained);
  training.next_draw = at::rand({8}, training.parameters.front().device());
  return training;
}

Training train(const MakeChain& make_chain, const MakeBatch& batch, int steps, Device& device,
               const std::vector<Program>& programs, const std::function<void(const StepReport&)>& see) {
  const auto chain = make_chain();
  Executor executor(*chain, device);
  WatchedOptimizer optimizer(executor.trained());
  at::manual_seed(seed);
  Training training;
  for (int step = 0; step < steps; ++step) {
    const Program& program = programs[step % programs.size()];
    std::vector<State> batches;
    for (int i = 0; i < micro_batches(program); ++i)
      batches.push_back(batch(step * micro_batches(program) + i));
    StepResult result = executor.run(program, batches, optimizer);
    if (const auto* shortage = std::get_if<Shortage>(&result))
      throw std::runtime_error(shortage->refusal.text());
    const auto& report = std::get<StepReport>(result);
    training.losses.push_back(report.loss);
    training.gradients.push_back(optimizer.take_gradients());
    if (see) see(report);
  }
  executor.bring_weights_home();
  training.parameters = copies(executor.trained());
  training.next_draw = at::rand({8}, training.parameters.front().device());
  return training;
}

Settings settings_with(Policy policy, std::int64_t interval, std::optional<std::int64_t> stride,
                       Segmenting segmenting) {
  Settings settings;
  settings.policy = policy;
  settings.interval = interval;
  settings.stride = stride;
  settings.segmenting = segmenting;
  return settings;
}

Profile bare_profile(std::uint32_t blocks) {
  Profile profile;
  profile.name = "bare";
  profile.blocks.resize(blocks);
  for (BlockProfile& block : profile.blocks) block.name = "block";
  return profile;
}

Program program_of(const Profile& profile, const Settings& settings) {
  const BlockTable table(profile);
  return compile(table, expand(table, settings).plan);
}

Profile size_up(Executor& executor, Chain& chain, const State& batch, MemoryPool& memory) {
  const auto n = static_cast<std::uint32_t>(chain.blocks().size());
  const Bytes before = memory.live();
  AdamW optimizer(executor.trained(), AdamWOptions{});
  const Bytes optimizer_state = memory.live() - before;
  Settings recompute;
  recompute.policy = Policy::recompute;
  const Profile bare = bare_profile(n);
  const Program keep_program = program_of(bare, {}), recompute_program = program_of(bare, recompute);
  SavedList saved(n, {100});  // of models as small as these all but the statistics of norms may travel
  executor.listen(&saved);
  const StepReport kept_report = std::get<StepReport>(executor.run(keep_program, batch, optimizer));
  executor.listen(nullptr);
  const StepReport dropped_report = std::get<StepReport>(executor.run(recompute_program, batch, optimizer));
  const std::vector<StepMemory>&kept = kept_report.memory, &dropped = dropped_report.memory;
  // The states are as large as shapes say; run once, plainly.
  std::vector<Bytes> states, handed_on;
  {
    const at::NoGradGuard no_grad;
    State state = chain.prologue(batch);
    states.push_back(storage_bytes(state));
    for (ChainBlock* block : chain.blocks()) {
      State next = block->forward(state);
      handed_on.push_back(shared_bytes(state, next));
      state = std::move(next);
      states.push_back(storage_bytes(state));
    }
    forget_casts();
  }
  Inventory inventory{"test", {}, states[n], optimizer_state};
  ChainReadings readings;
  for (std::uint32_t i = 0; i < n; ++i) {
    inventory.blocks.push_back({"block." + std::to_string(i), "", states[i], executor.weight_bytes(i),
                                executor.gradient_bytes(i), saved.block(i), saved.starts(i),
                                list_layers(*chain.blocks()[i], i, executor), handed_on[i],
                                saved.gradient(i).bytes, saved.gradient(i).handed_on});
    // Prologue, F_0 .. F_{n-1}, E, B_{n-1} .. B_0, O.
    BlockReadings block{readings_of(kept[1 + i]), readings_of(kept[2 * n + 1 - i]), {}, {}};
    block.dropped_rise = dropped[1 + i].peak - dropped[1 + i].before;
    block.layers.assign(inventory.blocks[i].layers.size(), {{{50}}, {{50}}});
    readings.blocks.push_back(block);
  }
  read_layers(keep_program, kept_report, readings.blocks);
  read_layers(recompute_program, dropped_report, readings.blocks);
  Profile known = bare;
  for (std::uint32_t i = 0; i < n; ++i) known.blocks[i].saved = saved.block(i);
  for (Scope scope : {Scope::attention, Scope::ffn, Scope::other})
    if (const auto program = scope_program(known, saved, scope))
      read_scope(*program, memory_of(executor.run(*program, batch, optimizer)), readings.blocks);
  readings.prologue = readings_of(kept.front());
  readings.epilogue = readings_of(kept[n + 1]);
  readings.optimizer = readings_of(kept.back());
  Profile profile = assemble(inventory, readings).profile;
  for (BlockProfile& block : profile.blocks) block.times.scope_forward = {Nanos{300}, Nanos{300}, Nanos{300}};
  return profile;
}

}  // namespace stowage
