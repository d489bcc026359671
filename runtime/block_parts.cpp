#include "runtime/block_parts.h"

#include <ATen/ATen.h>
#include <c10/util/ScopeExit.h>

#include <string>
#include <utility>

#include "runtime/saving.h"
#include "traces/error.h"

namespace stowage {
namespace {

// All that a part dropped is there again.
struct PartIsFull {};

class RefillHooks final : public torch::autograd::SavedVariableHooks {
 public:
  explicit RefillHooks(std::function<void(const at::Tensor&)> fill) : fill_(std::move(fill)) {}
  void call_pack_hook(const at::Tensor& tensor) override { fill_(tensor); }
  at::Tensor call_unpack_hook() override {
    throw DefectError("the graph of a part that is run again was used");
  }

 private:
  const std::function<void(const at::Tensor&)> fill_;
};

}  // namespace

class RepeatedPart::Refill final : public SaveHandler {
 public:
  Refill(const SaveLedger& saves, SavedTensors& saved) : saves_(saves), saved_(saved) {}

  std::unique_ptr<torch::autograd::SavedVariableHooks> next_hooks() override {
    return std::make_unique<RefillHooks>([this](const at::Tensor& tensor) { fill(tensor); });
  }
  std::size_t filled() const { return filled_; }

 private:
  void fill(const at::Tensor& tensor) {
    saves_.check(filled_, tensor);
    const std::optional<std::uint32_t> storage = saves_.storage(filled_);
    if (storage && !saved_.is_here(*storage)) saved_.put(*storage, tensor.storage());
    if (++filled_ == saves_.size()) throw PartIsFull();
  }

  const SaveLedger& saves_;
  SavedTensors& saved_;
  std::size_t filled_ = 0;
};

State RepeatedPart::run(SavedTensors& saved) {
  saved.drop_into(&saves_);
  const auto keep_again = c10::make_scope_exit([&] { saved.drop_into(nullptr); });
  return body_(inputs_);
}

void RepeatedPart::settle(SavedTensors& saved) {
  for (const at::Tensor& input : std::exchange(inputs_, {}))
    starts_.push_back({saved.place_of(input, false), input.requires_grad()});
}

void RepeatedPart::repeat(SavedTensors& saved) const {
  if (saves_.size() == 0) return;
  State inputs;
  for (const Start& start : starts_)
    inputs.push_back(saved.tensor_at(start.place).detach().set_requires_grad(start.wants_gradient));
  const ForwardConditions later;
  const auto put_back = c10::make_scope_exit([&] {
    forget_casts();
    later.put_back();
  });
  conditions_.put_back();
  Refill refill(saves_, saved);
  const SaveGuard guard(refill);
  const ScopeGuard scope(scope_);
  try {
    body_(inputs);
  } catch (const PartIsFull&) {
    return;
  }
  saves_.check_count(refill.filled());
}

State PartRunner::run(Scope scope, const State& inputs, const ScopeBody& body) {
  for (const at::Tensor& input : inputs)
    if (input.has_storage()) saved_.starts_from(input.storage());
  if (listener_) started_.push_back({scope, inputs});
  if (scope != repeated_) return body(inputs);
  parts_.emplace_back(scope, body, inputs, block_);
  return parts_.back().run(saved_);
}

std::vector<RepeatedPart> PartRunner::finish() {
  if (repeated_ && parts_.empty())
    throw InputError("program", "scope",
                     "block " + std::to_string(block_) + " runs nothing in_scope() that could be run again");
  for (RepeatedPart& part : parts_) part.settle(saved_);
  if (listener_) tell_starts();
  return std::move(parts_);
}

void PartRunner::tell_starts() const {
  for (const Started& part : started_) {
    Bytes unsaved;
    bool of_input = true;
    for (const at::Tensor& input : part.inputs) {
      const SavedPlace place = saved_.place_of(input, false);
      of_input = of_input && place.input;
      if (place.held.defined() && !saved_.is_parameter(input))
        unsaved += Bytes{static_cast<std::int64_t>(input.storage().nbytes())};
    }
    listener_->on_start({block_, part.scope, of_input ? std::nullopt : std::optional(unsaved)});
  }
}

}  // namespace stowage
