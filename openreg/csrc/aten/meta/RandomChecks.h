// Which dtypes the random operators have; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// The dtypes of AT_DISPATCH_FLOATING_TYPES_AND2 with float16 and bfloat16.
inline bool is_random_floating(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat ||
         dtype == at::kDouble;
}

// The dtypes of AT_DISPATCH_ALL_TYPES_AND2 with float16 and bfloat16.
inline bool is_random_number(at::ScalarType dtype) {
  return is_random_floating(dtype) ||
         (at::isIntegralType(dtype, false) && !at::isBarebonesUnsignedType(dtype));
}

// How many random words most kernels use for a floating-point number.
inline int64_t words_for(at::ScalarType dtype) { return dtype == at::kDouble ? 2 : 1; }

// Throws what AT_DISPATCH throws for a dtype without a kernel. Called before the
// launch: inside a kernel the same exception stops the device.
inline void check_random_dtype(const char* name, const at::Tensor& tensor,
                               bool has_kernel) {
  TORCH_CHECK_NOT_IMPLEMENTED(has_kernel, '"', name, "\" not implemented for '",
                              tensor.scalar_type(), "'");
}

}  // namespace openreg
