// Reductions and scans with more than one result, or that skip elements; see
// docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/median.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/var_mean.h>

#include "csrc/aten/kernels/Indexing.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/kernels/Moments.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;
using TwoReferences = std::tuple<at::Tensor&, at::Tensor&>;

c10::DimVector reduced(const at::Tensor& self, at::OptionalIntArrayRef dim,
                       bool keepdim) {
  const auto mask = at::native::make_dim_mask(dim, self.dim());
  return at::native::shape_from_dim_mask(self, mask, keepdim);
}

template <auto* kFunction>
TwoTensors moments(const char* name, const at::Tensor& self,
                   at::OptionalIntArrayRef dim,
                   const std::optional<at::Scalar>& correction, bool keepdim) {
  check_arguments(self.is_floating_point() || self.is_complex(),
                  [&] { kFunction(zeros_for(self), dim, correction, keepdim); });
  const auto sizes = reduced(self, dim, keepdim);
  const at::ScalarType real = c10::toRealValueType(self.scalar_type());
  const at::Tensor spread = at::empty(sizes, self.options().dtype(real));
  const at::Tensor mean = at::empty(sizes, self.options());
  warn_of_freedom(name, self, spread.numel(), correction);
  launch_out(name, cpu::without_warnings<cpu::out_variant<kFunction>>, std::array{spread, mean}, self,
             dim, correction, keepdim);
  return {spread, mean};
}

using MomentsFunction = TwoTensors(const at::Tensor&, at::OptionalIntArrayRef,
                                   const std::optional<at::Scalar>&, bool);
constexpr MomentsFunction* kVarMean = at::var_mean;
constexpr MomentsFunction* kStdMean = at::std_mean;

TwoTensors var_mean(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim) {
  return moments<kVarMean>("var_mean", self, dim, correction, keepdim);
}

TwoTensors std_mean(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim) {
  return moments<kStdMean>("std_mean", self, dim, correction, keepdim);
}

// torch.cummax() has checked the arguments and made the outputs.
template <auto* kKernel>
void scan(const char* name, const at::Tensor& self, at::Tensor& values,
          at::Tensor& indices, int64_t dim) {
  check_same_device(name, self, values, indices);
  launch_out(name, kKernel, std::array{values, indices}, self, dim);
}

void cummax_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices,
                   int64_t dim) {
  scan<kernels::cummax_out>("_cummax_helper", self, values, indices, dim);
}

void cummin_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices,
                   int64_t dim) {
  scan<kernels::cummin_out>("_cummin_helper", self, values, indices, dim);
}

at::Tensor nansum(const at::Tensor& self, at::OptionalIntArrayRef dim, bool keepdim,
                  std::optional<at::ScalarType> dtype) {
  if (at::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return at::sum(self, dim, keepdim, dtype);  // no integer is NaN
  }
  const at::ScalarType to = dtype.value_or(self.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_complex() || at::isFloatingType(to),
                              "\"nansum\" not implemented for '", to, "'");
  const at::Tensor out =
      at::empty(reduced(self, dim, keepdim), self.options().dtype(to));
  launch_out("nansum", kernels::nansum_out, std::array{out}, self, dim, keepdim, dtype);
  return out;
}

at::Tensor& nansum_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                       bool keepdim, std::optional<at::ScalarType> dtype,
                       at::Tensor& out) {
  return write_out(
      openreg::nansum(self, dim, keepdim, dtype.value_or(out.scalar_type())), out);
}

// The product over all dimensions, by the kernel for one.
at::Tensor prod(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  return at::prod(self.reshape({-1}), 0, /*keepdim=*/false, dtype);
}

at::Tensor trace(const at::Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ",
              self.dim());
  return self.diagonal().sum();
}

at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dim) {
  const at::Tensor out =
      at::empty(reduced(self, dim, false), self.options().dtype(at::kLong));
  launch_out("count_nonzero", cpu::out_variant<kernels::count_nonzero>, std::array{out},
             self, dim);
  return out;
}

using AllFunction = at::Tensor(const at::Tensor&);
using DimFunction = TwoTensors(const at::Tensor&, int64_t, bool);
constexpr AllFunction* kMedian = at::median;
constexpr AllFunction* kNanmedian = at::nanmedian;
constexpr DimFunction* kMedianDim = at::median;
constexpr DimFunction* kNanmedianDim = at::nanmedian;

template <auto* kFunction>
at::Tensor median_of_all(const at::Tensor& self) {
  const at::Tensor out = at::empty({}, self.options());
  launch_out(kFunction == kMedian ? "median" : "nanmedian", cpu::out_variant<kFunction>,
             std::array{out}, self);
  return out;
}

template <auto* kFunction>
TwoReferences median_out(const at::Tensor& self, int64_t dim, bool keepdim,
                         at::Tensor& values, at::Tensor& indices) {
  const char* name = kFunction == kMedianDim ? "median" : "nanmedian";
  check_same_device(name, self, values, indices);
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  check_arguments(self.dim() == 0 || self.size(axis) > 0,
                  [&] { kFunction(zeros_for(self), dim, keepdim); });
  const auto sizes = reduced(self, at::IntArrayRef(axis), keepdim);
  const at::Tensor found = at::empty(sizes, self.options());
  const at::Tensor places = at::empty(sizes, self.options().dtype(at::kLong));
  launch_out(name, cpu::out_variant<kFunction>, std::array{found, places}, self, dim,
             keepdim);
  return {write_out(found, values), write_out(places, indices)};
}

}  // namespace

void register_moments(torch::Library& m) {
  m.impl("var_mean.correction", var_mean);
  m.impl("std_mean.correction", std_mean);
  m.impl("_cummax_helper", cummax_helper);
  m.impl("_cummin_helper", cummin_helper);
  m.impl("prod", openreg::prod);
  m.impl("trace", openreg::trace);
  m.impl("nansum", openreg::nansum);
  m.impl("nansum.out", nansum_out);
  m.impl("count_nonzero.dim_IntList", openreg::count_nonzero);
  m.impl("median", &median_of_all<kMedian>);
  m.impl("median.dim_values", &median_out<kMedianDim>);
  m.impl("nanmedian", &median_of_all<kNanmedian>);
  m.impl("nanmedian.dim_values", &median_out<kNanmedianDim>);
}

}  // namespace openreg
