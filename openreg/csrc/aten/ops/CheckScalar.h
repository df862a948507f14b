// Rejects a number or a dtype that a kernel does not support; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace openreg {

// Throws the error of the CPU if `value` does not fit into `dtype`. Call it on the host
// before a launch, because the same error inside a kernel stops the device.
void check_scalar(const c10::Scalar& value, c10::ScalarType dtype);

// Whether this is a dtype of most floating point kernels: float16 to float64, and
// bfloat16. The 8-bit and 4-bit types have kernels for copies and for few other
// operators.
inline bool is_common_floating(c10::ScalarType dtype) {
  return dtype == c10::ScalarType::Half || dtype == c10::ScalarType::BFloat16 ||
         dtype == c10::ScalarType::Float || dtype == c10::ScalarType::Double;
}

}  // namespace openreg
