#include "runtime/step_run.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "runtime/excess.h"
#include "runtime/mark.h"

namespace stowage {
namespace {

// Where the device works behind this thread's back, its memory is freed as this thread sees copies end. Two
// steps ahead there is always one to compute, and no more is live than in two steps.
constexpr std::size_t run_ahead = 2;

// The thread itself, or one of autograd's while it waits for that.
bool works_for(std::thread::id compute) {
  return std::this_thread::get_id() == compute || torch::autograd::get_current_graph_task_id() >= 0;
}

}  // namespace

StepRun::StepRun(const Program& program, Device& device, Model& model, StepState& state, Optimizer& optimizer)
    : program_(program),
      device_(device),
      model_(model),
      state_(state),
      optimizer_(optimizer),
      recorder_(program),
      transfers_(program, device, model, state, recorder_) {
  device.memory().take_peak();
  recorder_.device_bytes({}, device.memory().live());
  recorder_.host_bytes({}, device.host_memory().live());
  device.memory().on_shortage(
      [this, compute = std::this_thread::get_id()] { return works_for(compute) && transfers_.make_room(); });
}

StepRun::~StepRun() {
  device_.memory().on_shortage({});
}

StepReport StepRun::run() {
  const Range compute = program_.lanes[static_cast<int>(Lane::compute)];
  for (current_ = compute.begin; current_ < compute.end; ++current_) run_step(current_);
  --current_;  // what is refused from here on is the last step's
  transfers_.drain();
  note_spans();
  report_.loss = state_.loss();
  report_.pool = device_.host_memory().report();
  report_.timeline = recorder_.finish(report_.pool);
  return std::move(report_);
}

// A step that waits for nothing begins where the one before it ended, so what the runtime itself does between
// two is part of the later one.
void StepRun::run_step(StepId id) {
  MemoryPool& memory = device_.memory();
  if (works_.size() >= run_ahead) works_[works_.size() - run_ahead]->finish();
  transfers_.clear();
  transfers_.issue_at({id, Edge::ready}, ready_);
  const Nanos arrived = std::max(ready_, transfers_.wait_for(id));
  StepMemory used{id, {}, {}, {}};
  Instant called;
  works_.push_back(device_.compute(recorder_.instant(arrived), [&](Instant begin) {
    called = begin;
    transfers_.clear();
    transfers_.issue_at({id, Edge::begin}, recorder_.since_begin(begin));
    used.before = memory.live();
    memory.take_peak();
    compute(program_.steps[id]);
    used.peak = memory.take_peak();
    free_at(id, Edge::end);
    used.after = memory.live();
  }));
  // Where the device works behind this thread's back, its memory is taken and freed when it is told to.
  const WorkSpan span =
      works_.back()->ended() ? works_.back()->span() : WorkSpan{called, std::chrono::steady_clock::now()};
  ready_ = recorder_.since_begin(span.end);
  recorder_.device_bytes(recorder_.since_begin(span.begin), used.peak);
  recorder_.device_bytes(ready_, used.after);
  report_.memory.push_back(used);
  if (refuse_excess_) stowage::refuse_excess(program_, id, used.before, used.after);
  transfers_.issue_at({id, Edge::end}, ready_);
}

void StepRun::note_spans() {
  const StepId first = program_.first(Lane::compute);
  for (StepId i = 0; i < works_.size(); ++i) {
    works_[i]->finish();
    const WorkSpan span = works_[i]->span();
    recorder_.ran(first + i, recorder_.since_begin(span.begin), recorder_.since_begin(span.end));
  }
}

void StepRun::compute(const Step& step) {
  switch (step.kind) {
    case StepKind::prologue:
      return state_.prologue();
    case StepKind::forward:
      return state_.forward(step);
    case StepKind::epilogue:
      return state_.epilogue();
    case StepKind::recompute:
      return state_.recompute(*step.block);
    case StepKind::backward:
      return state_.backward(*step.block);
    default:
      return optimize();
  }
}

void StepRun::optimize() {
  const Mark mark("Optimizer.step#AdamW.step");
  const std::vector<Model::Trained>& trained = model_.trained();
  double squares = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const at::Tensor gradient = model_.gradient(trained[i]);
    if (!gradient.defined()) continue;
    squares += std::pow(gradient.norm().item<double>(), 2);
    if (trained[i].weight) transfers_.settle_weights(*trained[i].block);
    optimizer_.update(i, model_.value(trained[i]), gradient);
  }
  report_.gradient_norm = std::sqrt(squares);
}

void StepRun::free_at(StepId id, Edge edge) {
  for (const MemoryEffect& effect : program_.effects_at(id, edge))
    if (!effect.alloc) state_.release(program_.buffers[effect.buffer], program_.steps[id]);
}

}  // namespace stowage
