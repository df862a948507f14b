// Counts values; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

// Of integers too, which CUDA counts and the CPU does not.
at::Tensor histc(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                 const at::Scalar& max);
at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                      const at::Scalar& max, at::Tensor& out);
// The host waits for the largest value, which is the size of the result.
at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights,
                    int64_t minlength);

}  // namespace openreg
