#include "cli/torch_self_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/executor.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "runtime/plain_step.h"
#include "runtime/same_bits.h"
#include "traces/error.h"

namespace stowage {
namespace {

struct FirstStep {
  double loss = 0;
  std::vector<at::Tensor> gradients;
  at::Tensor next_draw;
};

// Keeps copies of the gradients, and leaves the parameters alone.
class Collector final : public Optimizer {
 public:
  explicit Collector(std::vector<at::Tensor>& gradients) : gradients_(gradients) {}
  void update(std::size_t index, at::Tensor, const at::Tensor& gradient) override {
    gradients_[index] = gradient.clone();
  }

 private:
  std::vector<at::Tensor>& gradients_;
};

FirstStep unplanned(Chain& chain, const State& batch, const std::vector<at::Tensor>& parameters) {
  FirstStep step;
  step.loss = plain_step(chain, batch);
  for (const at::Tensor& parameter : parameters) {
    step.gradients.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::Tensor());
    parameter.mutable_grad().reset();
  }
  return step;
}

FirstStep planned(Executor& executor, const Program& program, const State& batch, std::size_t parameters) {
  FirstStep step;
  step.gradients.resize(parameters);
  Collector collector(step.gradients);
  const StepResult result = executor.run(program, batch, collector);
  if (const auto* shortage = std::get_if<Shortage>(&result)) throw MemoryRefused(shortage->refusal);
  step.loss = std::get<StepReport>(result).loss;
  return step;
}

std::string difference(const FirstStep& plain, const FirstStep& under) {
  if (std::memcmp(&plain.loss, &under.loss, sizeof plain.loss) != 0)
    return "the loss is " + std::to_string(under.loss) + ", and " + std::to_string(plain.loss) +
           " without a plan";
  for (std::size_t i = 0; i < plain.gradients.size(); ++i) {
    const at::Tensor &a = plain.gradients[i], &b = under.gradients[i];
    if (same_bits(a, b)) continue;
    const std::string which = "the gradient of trained parameter " + std::to_string(i);
    if (!a.defined() || !b.defined())
      return which + " is there only " + (a.defined() ? "without" : "under") + " the plan";
    return which + " is off by " + std::to_string(((a - b).norm() / a.norm()).item<double>()) +
           " of its length";
  }
  return same_bits(plain.next_draw, under.next_draw) ? "" : "the random state after the step is another";
}

}  // namespace

SelfCheck self_check(const Subject& subject, ChosenDevice& device, const Program& program) {
  device.set_budget(std::nullopt);
  Transformer model(subject.config, subject.seed, device.place());
  const State batch = device.bring(Corpus(subject.data, subject.shape()).batch(subject.seed, 0));
  Executor executor(model, device);
  const std::vector<at::Tensor> parameters = executor.trained();
  const auto seeded = [&](const auto& run) {
    at::manual_seed(subject.seed);
    FirstStep step = run();
    step.next_draw = at::rand({8}, device.place());
    return step;
  };
  const FirstStep plain = seeded([&] { return unplanned(model, batch, parameters); });
  const FirstStep under = seeded([&] { return planned(executor, program, batch, parameters.size()); });
  return {parameters.size(), difference(plain, under)};
}

}  // namespace stowage
