#include "runtime/step_state.h"

#include <ATen/ATen.h>
#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/autocast.h"
#include "runtime/mark.h"
#include "traces/error.h"

namespace stowage {

StepState::StepState(Model& model, std::span<const State> batches, SaveListener* listener)
    : model_(model),
      batches_(batches),
      listener_(listener),
      activations_(model.size() + 1),
      wanted_(model.size() + 1),
      activation_gradients_(model.size() + 1) {}

void StepState::prologue() {
  ++begun_;
  prologue_ = {};
  passes_.clear();
  passes_.resize(model_.size());
  activations_[0] = HeldState(prologue_.leave(model_.chain().prologue(batch())));
  forget_casts();
  wanted_[0] = prologue_.differentiable();
}

// The output of the block, without its graph.
State StepState::run(std::uint32_t block, Pass& pass, SaveHandler& handler) {
  check_weights(block);
  const State input = pass.graph.enter(activations_[block].tensors(), wanted_[block]);
  const Mark mark("block.", block);
  const SaveGuard guard(handler);
  State output = pass.graph.leave(model_.block(block).forward(input));
  forget_casts();
  wanted_[block + 1] = pass.graph.differentiable();
  return output;
}

// Those of streamed layers come when their layer begins.
void StepState::check_weights(std::uint32_t block) const {
  const BlockWeights& weights = model_.weights(block);
  if (weights.home() != WeightHome::host_by_layer && !weights.resident())
    throw DefectError("block " + std::to_string(block) + " runs while its weights are on the host");
}

void StepState::save(std::uint32_t block, std::optional<Scope> repeated) {
  Pass& pass = passes_[block];
  pass.saved =
      std::make_shared<SavedTensors>(block, model_.parameter_storages(), activations_[block], listener_);
  if (pass.saves) pass.saved->expect(&*pass.saves);
  PartRunner parts(block, repeated, *pass.saved, listener_);
  activations_[block + 1] = HeldState(run(block, pass, *pass.saved));
  if (pass.saves) pass.saves->check_count(pass.saved->saves());
  pass.repeated = parts.finish();
  pass.skipped = is_skipped(block);
}

// All that left the block is memory that entered it.
bool StepState::is_skipped(std::uint32_t block) const {
  const State& output = activations_[block + 1].tensors();
  return std::all_of(output.begin(), output.end(), [&](const at::Tensor& each) {
    return activations_[block].index_of(each.storage()).has_value();
  });
}

void StepState::forward(const Step& step) {
  const std::uint32_t block = *step.block;
  if (step.saves) return save(block, step.scope);
  Pass& pass = passes_[block];
  pass.conditions.emplace();
  pass.saves.emplace(block);
  // With a graph, though nothing of it stays: the kernels are those that recompute() will use.
  Pass dropped;
  DropSaved nothing(*pass.saves);
  activations_[block + 1] = HeldState(run(block, dropped, nothing));
}

void StepState::recompute(std::uint32_t block) {
  Pass& pass = passes_[block];
  if (!pass.conditions) {
    for (const RepeatedPart& part : pass.repeated) part.repeat(*pass.saved);
    return;
  }
  const ForwardConditions later;
  const auto put_back = c10::make_scope_exit([&] { later.put_back(); });
  pass.conditions->put_back();
  save(block);
}

void StepState::epilogue() {
  GraphPiece graph;
  const at::Tensor loss =
      model_.chain().epilogue(graph.enter(activations_.back().tensors(), wanted_.back()), batch());
  graph.leave({loss});
  forget_casts();
  loss_ += loss.item<double>();
  activation_gradients_.back() = graph.backward({at::ones_like(loss)});
  model_.collect_outer_gradients(false);
}

void StepState::backward(std::uint32_t block) {
  check_weights(block);
  if (is_later()) model_.set_gradients_aside(block);
  passes_[block].saved->consume();
  State gradients = passes_[block].graph.backward(activation_gradients_[block + 1]);
  if (!passes_[block].skipped) model_.check_gradients(block);
  if (is_later()) model_.add_up_gradients(block);
  if (block > 0) {
    if (listener_)
      listener_->on_gradient(
          {block, storage_bytes(gradients), shared_bytes(gradients, activation_gradients_[block + 1])});
    activation_gradients_[block] = std::move(gradients);
    model_.collect_outer_gradients(false);
    return;
  }
  prologue_.backward(gradients);
  model_.collect_outer_gradients(true);
}

void StepState::release(const Buffer& buffer, const Step& step) {
  if (buffer.space == Space::host || !buffer.block) return;
  const std::uint32_t i = *buffer.block;
  switch (buffer.kind) {
    case BufferKind::activation:
      activations_[i] = {};
      return;
    case BufferKind::activation_gradient:
      activation_gradients_[i].clear();
      return;
    case BufferKind::saved:  // all of a block's die at once
      passes_[i].saved.reset();
      passes_[i].repeated.clear();
      return;
    case BufferKind::weights:
      model_.weights(i).take(step.layer);
      return;
    case BufferKind::gradient:  // a later micro-batch's was added to the sum when its backward ended
      if (step.kind != StepKind::backward) model_.drop_gradients(i);
      return;
    case BufferKind::resident:
    case BufferKind::optimizer_state:
    case BufferKind::workspace:
    case BufferKind::checkpoint:
      return;
  }
}

std::vector<c10::Storage> StepState::send(const Step& copy) {
  const std::uint32_t i = *copy.block;
  switch (copy.kind) {
    case StepKind::store_saved:
      if (*copy.storage >= passes_[i].saved->size())
        throw InputError("program", "block " + std::to_string(i),
                         "moves saved tensor " + std::to_string(*copy.storage) + " of " +
                             std::to_string(passes_[i].saved->size()) + ": the profile is of another model");
      return {passes_[i].saved->take(*copy.storage)};
    case StepKind::store_input:
      return activations_[i].take();
    default:
      return model_.weights(i).take(copy.layer);
  }
}

std::vector<Bytes> StepState::sizes(const Step& copy) const {
  const std::uint32_t i = *copy.block;
  switch (copy.kind) {
    case StepKind::restore_saved:
      return {passes_[i].saved->bytes(*copy.storage)};
    case StepKind::restore_input:
      return activations_[i].sizes();
    default:
      return model_.weights(i).sizes(copy.layer);
  }
}

void StepState::receive(const Step& copy, std::vector<c10::Storage> storages) {
  const std::uint32_t i = *copy.block;
  switch (copy.kind) {
    case StepKind::restore_saved:
      return passes_[i].saved->put(*copy.storage, std::move(storages.front()));
    case StepKind::restore_input:
      return activations_[i].put(std::move(storages));
    default:
      return model_.weights(i).put(copy.layer, std::move(storages));
  }
}

}  // namespace stowage
