#include "runtime/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace stowage {

AdamW::AdamW(const std::vector<at::Tensor>& parameters, const AdamWOptions& options) : options_(options) {
  for (const at::Tensor& parameter : parameters)
    moments_.push_back({at::zeros_like(parameter), at::zeros_like(parameter),
                        at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false))});
}

void AdamW::update(std::size_t index, at::Tensor value, const at::Tensor& gradient) {
  const at::NoGradGuard no_grad;
  Moments& moments = moments_[index];
  moments.step.add_(1);
  at::_fused_adamw_({value}, {gradient}, {moments.first}, {moments.second}, {}, {moments.step},
                    options_.learning_rate, options_.beta1, options_.beta2, options_.weight_decay,
                    options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace stowage
