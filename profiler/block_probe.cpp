#include "profiler/block_probe.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "plan/plan.h"
#include "plan/program.h"
#include "profiler/layer_list.h"
#include "profiler/metered_chain.h"
#include "profiler/saved_list.h"
#include "profiler/scope_program.h"
#include "runtime/executor.h"
#include "runtime/optimizer.h"
#include "traces/error.h"

namespace stowage {
namespace {

// A profile of as many blocks, to compile a program from while nothing is known.
Profile skeleton(const std::string& name, const std::vector<ChainBlock*>& blocks) {
  Profile profile;
  profile.name = name;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    BlockProfile block;
    block.name = "block." + std::to_string(i);
    if (!blocks[i]->group().empty()) block.group = blocks[i]->group();
    profile.blocks.push_back(std::move(block));
  }
  return profile;
}

Program program_for(const Profile& profile, Policy policy) {
  const BlockTable table(profile);
  Settings settings;
  settings.policy = policy;
  return compile(table, expand(table, settings).plan);
}

class BlockProbe {
 public:
  BlockProbe(const ProbeSubject& subject, Device& device, const ProbeOptions& options)
      : subject_(subject),
        options_(options),
        chain_(subject.chain),
        executor_(chain_, device),
        without_optimizer_(device.memory().live()),
        optimizer_(executor_.trained(), {.learning_rate = 0, .weight_decay = 0}),
        optimizer_bytes_(device.memory().live() - without_optimizer_),
        profile_(skeleton(subject.name, chain_.blocks())),
        saved_(profile_.blocks.size()) {
    const std::vector<ChainBlock*> blocks = chain_.blocks();
    readings_.blocks.resize(blocks.size());
    for (std::uint32_t i = 0; i < blocks.size(); ++i)
      layers_.push_back(list_layers(*blocks[i], i, executor_));
  }

  Assembled run() {
    list_saved();
    const Program keep = program_for(profile_, Policy::keep);
    for (std::int64_t i = 0; i < options_.warm_up; ++i) step(keep);
    for (std::int64_t i = 0; i < options_.repeats; ++i) read_kept(keep, step(keep));
    const Program recompute = program_for(profile_, Policy::recompute);
    read_dropped(recompute, step(recompute));
    for (const Program& program : scopes_) read_scope(program, step(program).memory, readings_.blocks);
    return assemble(inventory(), readings_);
  }

 private:
  StepReport step(const Program& program) {
    StepResult result = executor_.run(program, subject_.batch, optimizer_);
    if (const auto* shortage = std::get_if<Shortage>(&result))
      throw SystemError("profiling " + subject_.name, shortage->refusal.text());
    options_.on_step(++done_,
                     options_.warm_up + options_.repeats + 2 + static_cast<std::int64_t>(scopes_.size()));
    return std::get<StepReport>(std::move(result));
  }

  // A program says when saved tensors are freed, so they must be known before anything is measured.
  void list_saved() {
    executor_.listen(&saved_);
    step(program_for(profile_, Policy::keep));
    executor_.listen(nullptr);
    for (std::size_t i = 0; i < profile_.blocks.size(); ++i) profile_.blocks[i].saved = saved_.block(i);
    for (Scope scope : {Scope::attention, Scope::ffn, Scope::other})
      if (std::optional<Program> program = scope_program(profile_, saved_, scope))
        scopes_.push_back(*std::move(program));
  }

  StepReadings* readings_for(const Step& step) {
    switch (step.kind) {
      case StepKind::prologue:
        return &readings_.prologue;
      case StepKind::forward:
        return &readings_.blocks[*step.block].forward;
      case StepKind::epilogue:
        return &readings_.epilogue;
      case StepKind::backward:
        return &readings_.blocks[*step.block].backward;
      case StepKind::optimizer:
        return &readings_.optimizer;
      default:
        return nullptr;
    }
  }

  void read_kept(const Program& program, const StepReport& report) {
    for (const StepMemory& memory : report.memory) {
      const Step& step = program.steps[memory.step];
      StepReadings* readings = readings_for(step);
      if (!readings) continue;
      readings->before = memory.before;
      readings->peak = memory.peak;
      readings->after = memory.after;
      readings->times.push_back(time_of(step, report.timeline));
    }
    read_layers(program, report);
    for (std::size_t i = 0; i < readings_.blocks.size(); ++i) {
      const BlockPass& pass = chain_.last_pass(i);
      for (std::size_t scope = 0; scope < scope_count; ++scope)
        if (pass.by_scope[scope]) readings_.blocks[i].scope_forward[scope].push_back(*pass.by_scope[scope]);
    }
  }

  void read_layers(const Program& program, const StepReport& report) {
    for (const LayerUse& use : report.layers) {
      const Step& step = program.steps[use.step];
      LayerReadings& read = readings_of(use, *step.block);
      const bool forward = step.kind == StepKind::forward;
      (forward ? read.forward : read.backward).push_back(use.time);
      (forward ? read.forward_rise : read.backward_rise) = use.rise;
    }
  }

  LayerReadings& readings_of(const LayerUse& use, std::uint32_t block) {
    BlockReadings& readings = readings_.blocks[block];
    readings.layers.resize(layers_[block].size());
    return use.layer ? readings.layers.at(*use.layer) : readings.rest;
  }

  static Nanos time_of(const Step& step, const Timeline& timeline) {
    for (const Span& span : timeline.spans)
      if (span.lane == Lane::compute && span.kind == step.kind && span.block == step.block)
        return span.end - span.begin;
    throw DefectError(std::string("no span for ") + name_of(step.kind));
  }

  void read_dropped(const Program& program, const StepReport& report) {
    for (const StepMemory& memory : report.memory) {
      const Step& step = program.steps[memory.step];
      if (step.kind == StepKind::forward)
        readings_.blocks[*step.block].dropped_rise = memory.peak - memory.before;
    }
    for (const LayerUse& use : report.layers) {
      const Step& step = program.steps[use.step];
      if (step.kind == StepKind::forward) readings_of(use, *step.block).dropped_rise = use.rise;
    }
  }

  Inventory inventory() {
    Inventory all{subject_.name, {}, {}, optimizer_bytes_};
    const std::vector<ChainBlock*> blocks = chain_.blocks();
    for (std::uint32_t i = 0; i < blocks.size(); ++i)
      all.blocks.push_back({profile_.blocks[i].name, blocks[i]->group(), chain_.last_pass(i).input,
                            executor_.weight_bytes(i), executor_.gradient_bytes(i), profile_.blocks[i].saved,
                            saved_.starts(i), layers_[i], chain_.last_pass(i).handed_on,
                            saved_.gradient(i).bytes, saved_.gradient(i).handed_on});
    all.output = chain_.last_pass(blocks.size() - 1).output;
    return all;
  }

  const ProbeSubject& subject_;
  const ProbeOptions& options_;
  MeteredChain chain_;
  Executor executor_;
  const Bytes without_optimizer_;
  AdamW optimizer_;
  const Bytes optimizer_bytes_;
  Profile profile_;  // names and saved tensors alone: what programs are compiled from
  SavedList saved_;
  std::vector<std::vector<LayerInventory>> layers_;
  std::vector<Program> scopes_;  // each recomputes one scope alone
  ChainReadings readings_;
  std::int64_t done_ = 0;
};

}  // namespace

Assembled probe_blocks(const ProbeSubject& subject, Device& device, const ProbeOptions& options) {
  return BlockProbe(subject, device, options).run();
}

}  // namespace stowage
