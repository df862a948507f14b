// Checks of values that only the device can make; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

// The range of each element. NaN is in none of them.
enum class ValueRange { Probability, Positive, NotNegative, Finite, FiniteNotNegative };

// Enqueues a kernel that writes to `answer`, one bool, whether each element of `tensor`
// is in `range`. With `must_hold`, it is a device fault where one is not.
// `tensor` has a floating point dtype. Null until a file of csrc/kernels sets it: then
// the host reads the elements.
inline void (*check_values_kernel)(const at::Tensor& tensor, ValueRange range,
                                   bool must_hold, const at::Tensor& answer) = nullptr;

// Whether every element of `tensor` is in `range`. The host waits for the answer, so
// that an invalid value raises an error before anything is written. A capture cannot
// wait, so an invalid value becomes a fault of the replay.
bool all_elements(const at::Tensor& tensor, ValueRange range);

}  // namespace openreg
