// Reductions and scans with more than one result, or that skip elements; see
// docs/operators/structured.md.
#include "csrc/aten/meta/Moments.h"

#include <ATen/Operators.h>
#include <ATen/ops/_cummax_helper.h>
#include <ATen/ops/_cummin_helper.h>
#include <ATen/ops/median.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/nansum.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/var_mean.h>

#include "csrc/aten/structured/OutOnly.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using TwoTensors = std::tuple<Tensor, Tensor>;

using MomentsFunction = TwoTensors(const Tensor&, at::OptionalIntArrayRef,
                                   const std::optional<at::Scalar>&, bool);
constexpr MomentsFunction* kVarMean = at::var_mean;
constexpr MomentsFunction* kStdMean = at::std_mean;

using AllFunction = Tensor(const Tensor&);
constexpr AllFunction* kMedian = at::median;
constexpr AllFunction* kNanmedian = at::nanmedian;
constexpr MedianDim::OnHost* kMedianDim = at::median;
constexpr MedianDim::OnHost* kNanmedianDim = at::nanmedian;

// torch.cummax() has checked the arguments and made the outputs.
void cummax(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  cpu::call("_cummax_helper", at::_cummax_helper, self, values, indices, dim);
}
void cummin(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  cpu::call("_cummin_helper", at::_cummin_helper, self, values, indices, dim);
}

// The CPU has no kernel for complex numbers; CUDA has. No integer is NaN.
Tensor& nansum(const Tensor& self, at::OptionalIntArrayRef dim, bool keepdim,
               std::optional<at::ScalarType>, Tensor& out) {
  const at::ScalarType dtype = out.scalar_type();
  if (self.is_complex()) {
    return out.copy_(at::sum(self.masked_fill(self.isnan(), 0), dim, keepdim, dtype));
  }
  return out.copy_(self.is_floating_point() ? at::nansum(self, dim, keepdim, dtype)
                                            : at::sum(self, dim, keepdim, dtype));
}

// The CPU's own operator takes fewer dtypes than CUDA's.
Tensor& count_nonzero(const Tensor& self, at::IntArrayRef dim, Tensor& out) {
  return out.copy_(at::ne(self, 0).sum(dim));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::var_mean_correction, VarMean,
                          cpu::without_warnings<cpu::out_variant<kVarMean>>>(m);
  cpu::on_cpu_without_out<op::std_mean_correction, StdMean,
                          cpu::without_warnings<cpu::out_variant<kStdMean>>>(m);
  m.impl("_cummax_helper", cummax);
  m.impl("_cummin_helper", cummin);
  cpu::on_cpu<op::nansum, op::nansum_out, Nansum, nansum>(m);
  cpu::on_cpu_without_out<op::count_nonzero_dim_IntList, CountNonzero, count_nonzero>(
      m);
  cpu::on_cpu_without_out<op::median, Median, cpu::out_variant<kMedian>>(m);
  cpu::on_cpu_without_out<op::nanmedian, Median, cpu::out_variant<kNanmedian>>(m);
  structured_out<op::median_dim_values, MedianDimOf<kMedianDim>>(
      m, cpu::OnCpu<cpu::out_variant<kMedianDim>>());
  structured_out<op::nanmedian_dim_values, MedianDimOf<kNanmedianDim>>(
      m, cpu::OnCpu<cpu::out_variant<kNanmedianDim>>());
}

}  // namespace openreg
