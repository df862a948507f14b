// Questions about values that only the device can answer; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// What each element has to be. NaN is none of these.
enum class ValueRange { Probability, Positive, NotNegative, Finite, FiniteNotNegative };

// Launches a kernel that writes to `answer`, one bool, whether each element of `tensor`
// is in `range`. With `must_hold`, it throws where one is not. `tensor` has a floating
// point dtype.
void check_values(const at::Tensor& tensor, ValueRange range, bool must_hold,
                  const at::Tensor& answer);

}  // namespace openreg::kernels
