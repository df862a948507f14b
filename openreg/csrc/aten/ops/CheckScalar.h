// Refuses a number or a dtype that a kernel could not take; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace openreg {

// Throws what the CPU throws if `value` does not fit into `dtype`. To be called on the
// host, before a launch: inside a kernel the same mistake is a fault that stops the
// device.
void check_scalar(const c10::Scalar& value, c10::ScalarType dtype);

// Whether this is a dtype of most floating point kernels: float16 to float64, and
// bfloat16. The types of 8 and 4 bits have kernels for copies and few others.
inline bool is_common_floating(c10::ScalarType dtype) {
  return dtype == c10::ScalarType::Half || dtype == c10::ScalarType::BFloat16 ||
         dtype == c10::ScalarType::Float || dtype == c10::ScalarType::Double;
}

}  // namespace openreg
