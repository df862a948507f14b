// Reductions without a structured meta function; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/kthvalue.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/mode.h>
#include <ATen/ops/std.h>
#include <ATen/ops/var.h>

#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using UnaryFunction = at::Tensor&(const at::Tensor&, at::Tensor&);
using VarFunction = at::Tensor&(const at::Tensor&, at::OptionalIntArrayRef,
                                const std::optional<at::Scalar>&, bool, at::Tensor&);
constexpr VarFunction* kVar = at::var_outf;
constexpr VarFunction* kStd = at::std_outf;

at::Tensor& extremum(const char* name, UnaryFunction* function, const at::Tensor& self,
                     at::Tensor& out) {
  TORCH_CHECK(self.numel() > 0, name,
              "(): Expected reduction dim to be specified for input.numel() == 0. ",
              "Specify the reduction dim with the 'dim' argument.");
  TORCH_CHECK(at::canCast(self.scalar_type(), out.scalar_type()), "result type ",
              self.scalar_type(), " can't be cast to the desired output type ",
              out.scalar_type());
  check_same_device(name, self, out);
  at::native::resize_output(out, {});
  const bool casts = self.scalar_type() != out.scalar_type();
  const at::Tensor result = casts ? at::empty({}, self.options()) : out;
  launch_out(name, function, std::array{result}, self);
  return casts ? out.copy_(result) : out;
}

at::Tensor& variance(const char* name, VarFunction* function, const at::Tensor& self,
                     at::OptionalIntArrayRef dim,
                     const std::optional<at::Scalar>& correction, bool keepdim,
                     at::Tensor& out) {
  const at::ScalarType dtype = c10::toRealValueType(self.scalar_type());
  const bool has_variance = self.is_floating_point() || self.is_complex();
  TORCH_CHECK(!has_variance || at::canCast(dtype, out.scalar_type()), "result type ",
              dtype, " can't be cast to the desired output type ", out.scalar_type());
  check_arguments(has_variance && (self.is_complex() || !out.is_complex()), [&] {
    at::Tensor on_host = at::empty({0}, at::dtype(out.scalar_type()));
    function(zeros_for(self), dim, correction, keepdim, on_host);
  });
  check_same_device(name, self, out);
  const auto mask = at::native::make_dim_mask(dim, self.dim());
  at::native::resize_output(out, at::native::shape_from_dim_mask(self, mask, keepdim));
  at::assert_no_internal_overlap(out);
  warn_of_freedom(name, self, out.numel(), correction);
  // The kernel does not reduce a whole tensor of low precision to a wider number.
  const bool widens = at::isReducedFloatingType(self.scalar_type()) &&
                      !at::isReducedFloatingType(out.scalar_type());
  launch_out(name, function, std::array{out},
             widens ? self.to(out.scalar_type()) : self, dim, correction, keepdim);
  return out;
}

// For a reduction that gives values and where they were.
void check_pair(const char* name, const at::Tensor& self, const at::Tensor& values,
                const at::Tensor& indices) {
  check_same_device(name, self, values, indices);
  TORCH_CHECK(self.scalar_type() == values.scalar_type(), "expected scalar type '",
              self.scalar_type(), "' but got '", values.scalar_type(),
              "' for values output");
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "expected scalar type 'Long' but got '", indices.scalar_type(),
              "' for indices output");
}

void resize_pair(const at::Tensor& self, int64_t dim, bool keepdim, at::Tensor& values,
                 at::Tensor& indices) {
  const auto mask = at::native::make_dim_mask(at::IntArrayRef(dim), self.dim());
  const auto sizes = at::native::shape_from_dim_mask(self, mask, keepdim);
  at::native::resize_output(values, sizes);
  at::native::resize_output(indices, sizes);
}

at::TensorOptions real(const at::Tensor& self) {
  return self.options().dtype(c10::toRealValueType(self.scalar_type()));
}

}  // namespace

at::Tensor& max_out(const at::Tensor& self, at::Tensor& out) {
  return extremum("max", at::max_outf, self, out);
}
at::Tensor max_(const at::Tensor& self) {
  at::Tensor out = at::empty({}, self.options());
  return openreg::max_out(self, out);
}

at::Tensor& min_out(const at::Tensor& self, at::Tensor& out) {
  return extremum("min", at::min_outf, self, out);
}
at::Tensor min_(const at::Tensor& self) {
  at::Tensor out = at::empty({}, self.options());
  return openreg::min_out(self, out);
}

at::Tensor& var_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim,
                    at::Tensor& out) {
  return variance("var", cpu::without_warnings<kVar>, self, dim, correction, keepdim, out);
}
at::Tensor var(const at::Tensor& self, at::OptionalIntArrayRef dim,
               const std::optional<at::Scalar>& correction, bool keepdim) {
  at::Tensor out = at::empty({0}, real(self));
  return openreg::var_out(self, dim, correction, keepdim, out);
}

at::Tensor& std_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim,
                    at::Tensor& out) {
  return variance("std", cpu::without_warnings<kStd>, self, dim, correction, keepdim, out);
}
at::Tensor std_(const at::Tensor& self, at::OptionalIntArrayRef dim,
                const std::optional<at::Scalar>& correction, bool keepdim) {
  at::Tensor out = at::empty({0}, real(self));
  return openreg::std_out(self, dim, correction, keepdim, out);
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  check_same_device("equal", self, other);
  return self.sizes() == other.sizes() && at::eq(self, other).all().item<bool>();
}

at::Tensor dot(const at::Tensor& self, const at::Tensor& other) {
  check_same_device("dot", self, other);
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ",
              self.dim(), "D and ", other.dim(), "D tensors");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected ",
              "tensor [", self.numel(), "] and src [", other.numel(), "] to have the ",
              "same number of elements, but got ", self.numel(), " and ", other.numel(),
              " elements respectively");
  at::Tensor out = at::empty({}, self.options());
  launch_out("dot", at::dot_outf, std::array{out}, self, other);
  return out;
}

std::tuple<at::Tensor&, at::Tensor&> mode_out(const at::Tensor& self, int64_t dim,
                                              bool keepdim, at::Tensor& values,
                                              at::Tensor& indices) {
  check_pair("mode", self, values, indices);
  at::native::zero_numel_check_dims(self, at::maybe_wrap_dim(dim, self.dim()),
                                    "mode()");
  for (const at::Tensor& out : {values, indices}) {
    at::assert_no_internal_overlap(out);
    at::assert_no_overlap(out, self);
  }
  resize_pair(self, dim, keepdim, values, indices);
  launch_out("mode", at::mode_outf, std::array{values, indices}, self, dim, keepdim);
  return {values, indices};
}
std::tuple<at::Tensor, at::Tensor> mode(const at::Tensor& self, int64_t dim,
                                        bool keepdim) {
  at::Tensor values = at::empty({0}, self.options());
  at::Tensor indices = at::empty({0}, self.options().dtype(at::kLong));
  return openreg::mode_out(self, dim, keepdim, values, indices);
}

std::tuple<at::Tensor&, at::Tensor&> kthvalue_out(const at::Tensor& self, int64_t k,
                                                  int64_t dim, bool keepdim,
                                                  at::Tensor& values,
                                                  at::Tensor& indices) {
  check_pair("kthvalue", self, values, indices);
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  at::native::zero_numel_check_dims(self, axis, "kthvalue()");
  TORCH_CHECK(k >= 1 && k <= (self.dim() == 0 ? 1 : self.size(axis)),
              "kthvalue(): selected number k out of range for dimension ", axis);
  at::assert_no_internal_overlap(values);
  at::assert_no_internal_overlap(indices);
  at::assert_no_overlap(self, values);
  resize_pair(self, dim, keepdim, values, indices);
  launch_out("kthvalue", at::kthvalue_outf, std::array{values, indices}, self, k, dim,
             keepdim);
  return {values, indices};
}

}  // namespace openreg
