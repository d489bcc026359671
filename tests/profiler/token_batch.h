// A batch for a byte transformer: the bytes in their order, each its own target.
#pragma once

#include <ATen/ATen.h>

#include "runtime/chain.h"
#include "runtime/models/transformer_config.h"

namespace stowage::tests {

inline State tokens_of(const TransformerConfig& config) {
  const at::Tensor tokens = at::arange(config.batch * config.context, at::kLong).remainder(256);
  return {tokens.view({config.batch, config.context}), tokens.view({config.batch, config.context})};
}

}  // namespace stowage::tests
