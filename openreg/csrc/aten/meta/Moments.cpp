// Meta functions of reductions that have several results or skip elements; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Moments.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/var_mean.h>
#include <c10/util/accumulate.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {

namespace {

using OptionalScalar = std::optional<at::Scalar>;

// The sizes of both results.
c10::DimVector moments(const char* name, c10::function_ref<void()> on_host,
                       const at::Tensor& self, at::OptionalIntArrayRef dim,
                       const OptionalScalar& correction, bool keepdim) {
  check_arguments(self.is_floating_point() || self.is_complex(), on_host);
  const auto sizes = reduced_sizes(self, dim, keepdim);
  warn_of_freedom(name, self, c10::multiply_integers(sizes), correction);
  return sizes;
}

at::TensorOptions real(const at::Tensor& self) {
  return self.options().dtype(c10::toRealValueType(self.scalar_type()));
}

}  // namespace

void VarMean::meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
                   const OptionalScalar& correction, bool keepdim) {
  const auto sizes = moments(
      "var_mean", [&] { at::var_mean(zeros_for(self), dim, correction, keepdim); },
      self, dim, correction, keepdim);
  output(0, sizes, real(self));
  output(1, sizes, self.options());
}

void StdMean::meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
                   const OptionalScalar& correction, bool keepdim) {
  const auto sizes = moments(
      "std_mean", [&] { at::std_mean(zeros_for(self), dim, correction, keepdim); },
      self, dim, correction, keepdim);
  output(0, sizes, real(self));
  output(1, sizes, self.options());
}

void Nansum::meta(const at::Tensor& self, at::OptionalIntArrayRef dim, bool keepdim,
                  std::optional<at::ScalarType> dtype) {
  const at::Tensor& given = maybe_get_output(0);
  const bool integers = at::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  const at::ScalarType to = dtype.value_or(given.defined() ? given.scalar_type()
                                           : integers      ? at::kLong
                                                           : self.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(integers || self.is_complex() || at::isFloatingType(to),
                              "\"nansum\" not implemented for '", to, "'");
  output(0, reduced_sizes(self, dim, keepdim), self.options().dtype(to));
}

void CountNonzero::meta(const at::Tensor& self, at::IntArrayRef dim) {
  output(0, reduced_sizes(self, dim, /*keepdim=*/false),
         self.options().dtype(at::kLong));
}

void Median::meta(const at::Tensor& self) { output(0, {}, self.options()); }

void MedianDim::median(OnHost* on_host, const at::Tensor& self, int64_t dim,
                       bool keepdim) {
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  check_arguments(self.dim() == 0 || self.size(axis) > 0,
                  [&] { on_host(zeros_for(self), dim, keepdim); });
  const auto sizes = reduced_sizes(self, at::IntArrayRef(axis), keepdim);
  output(0, sizes, self.options());
  output(1, sizes, self.options().dtype(at::kLong));
}

}  // namespace openreg
