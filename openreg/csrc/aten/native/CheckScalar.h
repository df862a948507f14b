// Refuses a number that a kernel could not convert; see docs/operators/registration.md.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace openreg {

// Throws what the CPU throws if `value` does not fit into `dtype`. To be called on the
// host, before a launch: inside a kernel the same mistake is a fault that stops the
// device.
void check_scalar(const c10::Scalar& value, c10::ScalarType dtype);

}  // namespace openreg
