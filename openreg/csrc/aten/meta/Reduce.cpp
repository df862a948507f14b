// Meta functions of reductions without a structured one; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Reduce.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/std.h>
#include <ATen/ops/var.h>
#include <c10/util/accumulate.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {

void Extremum::extremum(const char* name, const at::Tensor& self) {
  TORCH_CHECK(self.numel() > 0, name,
              "(): Expected reduction dim to be specified for input.numel() == 0. ",
              "Specify the reduction dim with the 'dim' argument.");
  const at::Tensor& given = maybe_get_output(0);
  const at::ScalarType dtype =
      given.defined() ? given.scalar_type() : self.scalar_type();
  TORCH_CHECK(at::canCast(self.scalar_type(), dtype), "result type ",
              self.scalar_type(), " can't be cast to the desired output type ", dtype);
  output(0, {}, self.options().dtype(dtype));
}

void Variance::variance(const char* name, OnHost* on_host, const at::Tensor& self,
                        at::OptionalIntArrayRef dim,
                        const std::optional<at::Scalar>& correction, bool keepdim) {
  const at::ScalarType real = c10::toRealValueType(self.scalar_type());
  const at::Tensor& given = maybe_get_output(0);
  const at::ScalarType dtype = given.defined() ? given.scalar_type() : real;
  const bool has_variance = self.is_floating_point() || self.is_complex();
  TORCH_CHECK(!has_variance || at::canCast(real, dtype), "result type ", real,
              " can't be cast to the desired output type ", dtype);
  check_arguments(has_variance && (self.is_complex() || !at::isComplexType(dtype)),
                  [&] {
                    at::Tensor out = at::empty({0}, at::dtype(dtype));
                    on_host(zeros_for(self), dim, correction, keepdim, out);
                  });
  const auto sizes = reduced_sizes(self, dim, keepdim);
  warn_of_freedom(name, self, c10::multiply_integers(sizes), correction);
  output(0, sizes, self.options().dtype(dtype));
}

void Var::meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
               const std::optional<at::Scalar>& correction, bool keepdim) {
  variance("var", at::var_outf, self, dim, correction, keepdim);
}

void Std::meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
               const std::optional<at::Scalar>& correction, bool keepdim) {
  variance("std", at::std_outf, self, dim, correction, keepdim);
}

void Dot::meta(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ",
              self.dim(), "D and ", other.dim(), "D tensors");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected ",
              "tensor [", self.numel(), "] and src [", other.numel(), "] to have the ",
              "same number of elements, but got ", self.numel(), " and ", other.numel(),
              " elements respectively");
  output(0, {}, self.options());
}

void ValueAndPlace::check_pair(const at::Tensor& self) {
  const at::Tensor& values = maybe_get_output(0);
  const at::Tensor& indices = maybe_get_output(1);
  if (!values.defined()) {
    return;
  }
  TORCH_CHECK(self.scalar_type() == values.scalar_type(), "expected scalar type '",
              self.scalar_type(), "' but got '", values.scalar_type(),
              "' for values output");
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "expected scalar type 'Long' but got '", indices.scalar_type(),
              "' for indices output");
  at::assert_no_overlap(values, self);
  at::assert_no_overlap(indices, self);
}

void ValueAndPlace::pair(const at::Tensor& self, int64_t dim, bool keepdim) {
  const auto sizes = reduced_sizes(self, at::IntArrayRef(dim), keepdim);
  output(0, sizes, self.options());
  output(1, sizes, self.options().dtype(at::kLong));
}

void Mode::meta(const at::Tensor& self, int64_t dim, bool keepdim) {
  check_pair(self);
  at::native::zero_numel_check_dims(self, at::maybe_wrap_dim(dim, self.dim()),
                                    "mode()");
  pair(self, dim, keepdim);
}

void Kthvalue::meta(const at::Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  check_pair(self);
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  at::native::zero_numel_check_dims(self, axis, "kthvalue()");
  TORCH_CHECK(k >= 1 && k <= (self.dim() == 0 ? 1 : self.size(axis)),
              "kthvalue(): selected number k out of range for dimension ", axis);
  pair(self, dim, keepdim);
}

}  // namespace openreg
