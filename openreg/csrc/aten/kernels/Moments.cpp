// Kernels of scans with two results, and of sums without NaN; see
// docs/operators/structured.md.
#include "csrc/aten/kernels/Moments.h"

#include <ATen/ops/_cummax_helper.h>
#include <ATen/ops/_cummin_helper.h>
#include <ATen/ops/nansum.h>
#include <ATen/ops/sum.h>

namespace openreg::kernels {

std::tuple<at::Tensor&, at::Tensor&> cummax_out(const at::Tensor& self, int64_t dim,
                                                at::Tensor& values,
                                                at::Tensor& indices) {
  at::_cummax_helper(self, values, indices, dim);
  return {values, indices};
}

std::tuple<at::Tensor&, at::Tensor&> cummin_out(const at::Tensor& self, int64_t dim,
                                                at::Tensor& values,
                                                at::Tensor& indices) {
  at::_cummin_helper(self, values, indices, dim);
  return {values, indices};
}

// The CPU has no kernel for complex numbers; CUDA has.
at::Tensor& nansum_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                       bool keepdim, std::optional<at::ScalarType> dtype,
                       at::Tensor& out) {
  return out.copy_(self.is_complex()
                       ? at::sum(self.masked_fill(self.isnan(), 0), dim, keepdim, dtype)
                       : at::nansum(self, dim, keepdim, dtype));
}

}  // namespace openreg::kernels
