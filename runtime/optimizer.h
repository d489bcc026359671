// What turns gradients into new weights. The executor calls it in the program's optimizer step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace stowage {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Changes `value` in place. `index` is the parameter's place in Executor::trained(); it comes at most once
  // a step, and not at all where it has no gradient. `value` lies where the parameter lives at that time: on
  // the device, or on the host where its block is swapped out.
  virtual void update(std::size_t index, at::Tensor value, const at::Tensor& gradient) = 0;
};

struct AdamWOptions {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
};

// AdamW with decoupled weight decay. All state is allocated at once, so that what a step needs is known from
// the first on; an update allocates nothing that grows with the parameter.
class AdamW final : public Optimizer {
 public:
  // Of parameters shaped like these, in this order.
  AdamW(const std::vector<at::Tensor>& parameters, const AdamWOptions& options);

  void update(std::size_t index, at::Tensor value, const at::Tensor& gradient) override;

 private:
  struct Moments {
    at::Tensor first, second, step;
  };

  AdamWOptions options_;
  std::vector<Moments> moments_;
};

}  // namespace stowage
