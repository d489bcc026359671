#include "runtime/step_run.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "runtime/done_work.h"
#include "runtime/excess.h"
#include "runtime/mark.h"
#include "traces/error.h"

namespace stowage {
namespace {

// Where the device works behind this thread's back, its memory is freed as this thread sees copies end. Two
// steps ahead there is always one to compute, and no more is live than in two steps.
constexpr std::size_t run_ahead = 2;

// The thread itself, or one of autograd's while it waits for that.
bool works_for(std::thread::id compute) {
  return std::this_thread::get_id() == compute || torch::autograd::get_current_graph_task_id() >= 0;
}

// What is left of work that was begun in an earlier step.
class RestOfWork final : public DeviceWork {
 public:
  RestOfWork(std::shared_ptr<DeviceWork> work, Instant begin) : work_(std::move(work)), begin_(begin) {}
  bool ended() const override { return work_->ended(); }
  void finish() override { work_->finish(); }
  WorkSpan span() const override { return {begin_, std::max(begin_, work_->span().end)}; }

 private:
  const std::shared_ptr<DeviceWork> work_;
  const Instant begin_;
};

}  // namespace

StepRun::StepRun(const Program& program, Device& device, Model& model, StepState& state, Optimizer& optimizer,
                 LayerOrders& orders)
    : program_(program),
      device_(device),
      model_(model),
      state_(state),
      optimizer_(optimizer),
      recorder_(program),
      transfers_(program, device, model, state, recorder_),
      orders_(orders),
      loads_(device, model),
      outer_listener_(listen_to_layers(this)) {
  device.memory().take_peak();
  recorder_.device_bytes({}, device.memory().live());
  recorder_.host_bytes({}, device.host_memory().live());
  device.memory().on_shortage(
      [this, compute = std::this_thread::get_id()] { return works_for(compute) && make_room(); });
}

StepRun::~StepRun() {
  listen_to_layers(outer_listener_);
  device_.memory().on_shortage({});
}

StepReport StepRun::run() {
  const Range compute = program_.lanes[static_cast<int>(Lane::compute)];
  for (current_ = compute.begin; current_ < compute.end; ++current_) run_call();
  --current_;  // what is refused from here on is the last step's
  transfers_.drain();
  note_spans();
  count_loads();
  report_.loss = state_.loss();
  report_.pool = device_.host_memory().report();
  report_.timeline = recorder_.finish(report_.pool);
  return std::move(report_);
}

// One step, or those of a pass through a block whose layers stream.
StepId StepRun::end_of_call() const {
  const Step& first = program_.steps[current_];
  StepId end = current_ + 1;
  while (first.block && end < program_.lanes[static_cast<int>(Lane::compute)].end &&
         program_.steps[end].kind == first.kind && program_.steps[end].block == first.block)
    ++end;
  return end;
}

void StepRun::run_call() {
  call_begin_ = current_;
  call_end_ = end_of_call();
  if (works_.size() >= run_ahead) works_[works_.size() - run_ahead]->finish();
  const Nanos arrived = arrive();
  const std::shared_ptr<DeviceWork> work = device_.compute(recorder_.instant(arrived), [&](Instant begin) {
    begin_step(begin);
    compute(program_.steps[call_begin_]);
    finish_layers();
    leave_step();
  });
  // Where the device works behind this thread's back, its memory is taken and freed when it is told to.
  const Instant end = work->ended() ? work->span().end : std::chrono::steady_clock::now();
  works_.push_back(current_ == call_begin_ ? work : std::make_shared<RestOfWork>(work, begin_));
  if (!work->ended())
    std::erase_if(report_.layers, [&](const LayerUse& layer) { return layer.step == current_; });
  end_step(end);
}

// A step that waits for nothing begins where the one before it ended, so what the runtime itself does between
// two is part of the later one.
Nanos StepRun::arrive() {
  transfers_.clear();
  transfers_.issue_at({current_, Edge::ready}, ready_);
  return std::max(ready_, transfers_.wait_for(current_));
}

void StepRun::begin_step(Instant begin) {
  begin_ = begin;
  transfers_.clear();
  transfers_.issue_at({current_, Edge::begin}, recorder_.since_begin(begin));
  used_ = {current_, device_.memory().live(), {}, {}};
  device_.memory().take_peak();
}

void StepRun::leave_step() {
  if (program_.steps[current_].layer && !is_used_)
    for (StepId wait : program_.waits_of(current_))
      if (program_.steps[wait].kind == StepKind::load_weights) ++unused_loads_;
  is_used_ = false;
  used_.peak = std::max(used_.peak, device_.memory().take_peak());
  free_at(current_, Edge::end);
  used_.after = device_.memory().live();
}

void StepRun::end_step(Instant end) {
  ready_ = recorder_.since_begin(end);
  recorder_.device_bytes(recorder_.since_begin(begin_), used_.peak);
  recorder_.device_bytes(ready_, used_.after);
  report_.memory.push_back(used_);
  if (current_ == call_begin_) before_call_ = used_.before;
  if (refuse_excess_ && current_ + 1 == call_end_)
    stowage::refuse_excess(program_, {call_begin_, call_end_}, before_call_, used_.after);
  transfers_.issue_at({current_, Edge::end}, ready_);
}

// Layers that are passed on the way do not run now: their weights come and go unused.
void StepRun::go_on_to(StepId target) {
  while (current_ < target) {
    leave_step();
    const Instant end = std::chrono::steady_clock::now();
    works_.push_back(std::make_shared<DoneWork>(WorkSpan{begin_, end}));
    end_step(end);
    ++current_;
    begin_step(recorder_.instant(arrive()));
  }
}

void StepRun::finish_layers() {
  leave_layer();
  loads_.drop();
  loads_.forget_ahead();
  go_on_to(call_end_ - 1);
}

void StepRun::leave_layer() {
  if (!running_) return;
  const std::uint32_t layer = std::exchange(running_, {})->layer;
  if (call_end_ - call_begin_ > 1) return;  // its step says it
  note_layer(layer, recorder_.now() - recorder_.since_begin(running_since_));
}

void StepRun::note_layer(std::optional<std::uint32_t> layer, Nanos time) {
  const Bytes peak = device_.memory().take_peak();
  used_.peak = std::max(used_.peak, peak);
  std::vector<LayerUse>& all = report_.layers;
  auto known = std::find_if(all.rbegin(), all.rend(), [&](const LayerUse& each) {
    return each.step != current_ || each.layer == layer;
  });
  if (known == all.rend() || known->step != current_) {
    all.push_back({current_, layer, {}, {}});
    known = all.rbegin();
  }
  known->time += time;
  known->rise = std::max(known->rise, peak - used_.before);
}

StepId StepRun::step_of(std::uint32_t layer, StepId from) const {
  while (from < call_end_ && program_.steps[from].layer != layer) ++from;
  return from;
}

void StepRun::on_layer(std::uint32_t layer) {
  const std::optional<std::uint32_t> block = program_.steps[current_].block;
  if (!block) return;
  const LayerId id{*block, layer};
  if (running_ == id) return;
  const std::optional<LayerId> before = running_;
  const bool begins_pass = program_.steps[current_].kind == StepKind::backward && !before;
  if (!before && !begins_pass && call_end_ - call_begin_ == 1) note_layer({}, {});
  leave_layer();
  running_ = id;
  running_since_ = begins_pass ? begin_ : std::chrono::steady_clock::now();
  if (model_.weights(*block).home() == WeightHome::host_by_layer) bring(id, before);
}

void StepRun::bring(LayerId layer, std::optional<LayerId> before) {
  if (before) order().follows(*before, layer);
  loads_.drop();
  if (const StepId target = step_of(layer.layer, current_); target < call_end_) {
    go_on_to(target);
    is_used_ = true;
  }
  if (!model_.weights(layer.block).resident(layer.layer)) loads_.bring(layer);
  fetch_what_follows(layer);
}

// Stores end first; then what was only guessed goes, then what was kept for the backward, the last to be
// used first: it comes again when its layer begins.
bool StepRun::make_room() {
  if (transfers_.make_room() || loads_.forget_ahead()) return true;
  for (std::uint32_t block = 0; block < model_.size(); ++block) {
    const std::optional<std::uint32_t> spared =
        running_ && running_->block == block ? std::optional(running_->layer) : std::nullopt;
    if (!model_.weights(block).drop_layer(spared)) continue;
    ++discarded_;
    return true;
  }
  return false;
}

void StepRun::on_save(const at::Tensor& parameter) {
  const std::optional<LayerId> layer = layer_with(parameter);
  if (!layer || layer == running_) return;
  throw InputError("model", "block " + std::to_string(layer->block),
                   "uses weights of layer " + std::to_string(layer->layer) +
                       " while that layer does not run: begin_layer() was not called");
}

void StepRun::on_use(const at::Tensor& parameter) {
  if (const std::optional<LayerId> layer = layer_with(parameter)) on_layer(layer->layer);
}

// Of the block that runs.
std::optional<LayerId> StepRun::layer_with(const at::Tensor& parameter) {
  const std::optional<std::uint32_t> block = program_.steps[current_].block;
  if (!block || !parameter.has_storage()) return {};
  const BlockWeights::Layer layer =
      model_.weights(*block).layer_of(parameter.storage().unsafeGetStorageImpl());
  if (!layer) return {};
  return LayerId{*block, *layer};
}

// What the program brings itself, it brings in time.
void StepRun::fetch_what_follows(LayerId layer) {
  const std::optional<LayerId> next = order().after(layer);
  if (next && step_of(next->layer, current_) == call_end_ &&
      !model_.weights(next->block).resident(next->layer))
    loads_.fetch_ahead(*next);
}

LearnedOrder& StepRun::order() {
  return program_.steps[current_].kind == StepKind::backward ? orders_.backward : orders_.forward;
}

void StepRun::count_loads() {
  const LayerLoads::Counts& counts = loads_.counts();
  if (unused_loads_ > 0) recorder_.count("layer_loads_unused", unused_loads_);
  if (discarded_ > 0) recorder_.count("layers_discarded", discarded_);
  if (counts.blocking + counts.ahead == 0) return;
  recorder_.count("layer_loads_blocking", counts.blocking);
  recorder_.count("layer_loads_ahead", counts.ahead);
  recorder_.count("layer_loads_ahead_used", counts.hits);
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
    if (!effect.alloc && program_.buffers[effect.buffer].holders == 1)  // what is shared goes with its states
      state_.release(program_.buffers[effect.buffer], program_.steps[id]);
}

}  // namespace stowage
