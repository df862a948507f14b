// Questions about values that only the device can answer; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// What each element has to be. NaN is none of these.
enum class ValueRange { Probability, Positive, NotNegative, Finite, FiniteNotNegative };

// Enqueues a kernel that writes to `answer`, one bool, whether each element of `tensor`
// is in `range`. With `must_hold`, it is a fault of the device where one is not.
// `tensor` has a floating point dtype. Null until a file of csrc/kernels sets it: then
// the host reads the elements.
inline void (*check_values_kernel)(const at::Tensor& tensor, ValueRange range,
                                   bool must_hold, const at::Tensor& answer) = nullptr;

// Whether every element of `tensor` is in `range`. The host waits for the answer, so
// that a wrong value is refused before anything is written. A capture cannot
// wait: a wrong value becomes a fault of the replay that meets it.
bool all_elements(const at::Tensor& tensor, ValueRange range);

}  // namespace openreg
