// Equality to the last bit.
#pragma once

#include <ATen/core/Tensor.h>

namespace stowage {

// Shape, type and every bit; both undefined is equal. On any device. Cost: a copy of what is not on the host
// or not contiguous.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace stowage
