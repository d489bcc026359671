// The loop that everybody writes, to compare with: forward, backward, the norm of all gradients, AdamW.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "runtime/plain_step.h"

namespace stowage::benchmarks {

class PlainTraining {
 public:
  PlainTraining(const TransformerConfig& config, std::uint64_t seed)
      : model_(config, seed), parameters_(trained_parameters(model_)), optimizer_(parameters_, {}) {}

  double step(const State& batch) {
    const double loss = plain_step(model_, batch);
    double squares = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor& gradient = parameters_[i].mutable_grad();
      squares += std::pow(gradient.norm().item<double>(), 2);
      optimizer_.update(i, parameters_[i].detach(), gradient);
      gradient.reset();
    }
    norm_ = std::sqrt(squares);
    return loss;
  }

 private:
  Transformer model_;
  std::vector<at::Tensor> parameters_;
  AdamW optimizer_;
  double norm_ = 0;
};

}  // namespace stowage::benchmarks
