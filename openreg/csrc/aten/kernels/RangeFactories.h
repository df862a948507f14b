// Kernels that make ranges of numbers; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes `steps` numbers from `start` to `end` to `out`, which has `steps` elements and
// any sizes and strides.
at::Tensor& linspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         at::Tensor& out);

// The same for the powers of `base` with exponents from `start` to `end`.
at::Tensor& logspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         double base, at::Tensor& out);

// Writes the numbers from `start` to `end`, both included, to `out`, with a difference
// of `step`. `out` has as many elements as there are numbers.
at::Tensor& range_out(const at::Scalar& start, const at::Scalar& end,
                      const at::Scalar& step, at::Tensor& out);

// Writes a symmetric Kaiser window to `out`, which has `length` elements, two or more.
at::Tensor& kaiser_window_out(int64_t length, double beta, at::Tensor& out);

// Writes the identity matrix of `n` rows and `m` columns to `out`.
at::Tensor& eye_out(int64_t n, int64_t m, at::Tensor& out);

}  // namespace openreg::kernels
