// Kernels that are dispatch stubs of ATen, and their operators; see
// docs/operators/stub.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/native/Activation.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/LinearAlgebra.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/_prelu_kernel_backward.h>
#include <ATen/ops/_prelu_kernel_backward_native.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/addr_native.h>
#include <ATen/ops/angle_native.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/complex_native.h>
#include <ATen/ops/conj_physical_native.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/hardswish_backward_native.h>
#include <ATen/ops/hardswish_native.h>
#include <ATen/ops/logical_and_native.h>
#include <ATen/ops/logical_not_native.h>
#include <ATen/ops/logical_or_native.h>
#include <ATen/ops/logical_xor_native.h>
#include <ATen/ops/logit_native.h>
#include <ATen/ops/mish_backward_native.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/polar_native.h>
#include <ATen/ops/put_native.h>
#include <ATen/ops/take_native.h>
#include <ATen/ops/unfold_backward.h>
#include <ATen/ops/unfold_backward_native.h>
#include <ATen/ops/where_native.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/IntegerDivision.h"
#include "csrc/kernels/cpu/IteratorKernel.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace at::native {
// As ATen/native/UnfoldBackward.h declares it, beside functions for CUDA's kernels.
using unfold_backward_fn = void (*)(Tensor&, const Tensor&, int64_t, int64_t, int64_t);
DECLARE_DISPATCH(unfold_backward_fn, unfold_backward_stub)
}  // namespace at::native

namespace openreg {
namespace {

namespace op = at::_ops;

// -- functions with out= that ATen's CPU library lacks --

at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  return self.scalar_type() == at::kBool ? out.copy_(self)
                                         : at::cpu::abs_outf(self, out);
}

at::Tensor& hardswish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                                   at::Tensor& out) {
  return out.copy_(at::cpu::hardswish_backward(grad, self));
}

at::Tensor& mish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                              at::Tensor& out) {
  return out.copy_(at::cpu::mish_backward(grad, self));
}

at::Tensor& addr_out(const at::Tensor& self, const at::Tensor& column,
                     const at::Tensor& row, const at::Scalar& beta,
                     const at::Scalar& alpha, at::Tensor& out) {
  return at::cpu::addr_outf(self, column.flatten(), row.flatten(), beta, alpha, out);
}

at::Tensor& put_out(const at::Tensor& index, const at::Tensor& source, bool add,
                    at::Tensor& out) {
  const IgnoreWarnings ignored;  // the host has warned already
  return out.put_(index, source, add);
}

// -- kernels --

void addr_kernel(at::TensorIterator& iterator, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  cpu::call(cpu::options_of("addr", iterator), addr_out, iterator.tensor(1),
            iterator.tensor(2), iterator.tensor(3), beta, alpha, iterator.tensor(0));
}

// The iterator has the output and the index; the source is a separate argument.
void take_kernel(at::TensorIterator& iterator, const at::TensorBase& self) {
  cpu::call("take", at::cpu::take_outf, at::Tensor(self), iterator.tensor(1),
            iterator.tensor(0));
}

using at::native::binary_fn;
using at::native::structured_binary_fn;
using at::native::unary_fn;

// LITERALINCLUDE START: STUB_KERNELS
constexpr unary_fn abs_kernel = cpu::iterator_kernel<op::abs, abs_out>;
constexpr unary_fn angle_kernel = cpu::iterator_kernel<op::angle, at::cpu::angle_outf>;
constexpr unary_fn conj_kernel =
    cpu::iterator_kernel<op::conj_physical, at::cpu::conj_physical_outf>;
constexpr unary_fn not_kernel =
    cpu::iterator_kernel<op::logical_not, at::cpu::logical_not_outf>;
constexpr binary_fn and_kernel =
    cpu::iterator_kernel<op::logical_and, at::cpu::logical_and_outf>;
constexpr binary_fn or_kernel =
    cpu::iterator_kernel<op::logical_or, at::cpu::logical_or_outf>;
constexpr binary_fn xor_kernel =
    cpu::iterator_kernel<op::logical_xor, at::cpu::logical_xor_outf>;
constexpr structured_binary_fn floor_divide_kernel =
    cpu::iterator_kernel<op::floor_divide, cpu::floor_divide_out>;
constexpr binary_fn where_kernel =
    cpu::iterator_kernel<op::where_self, at::cpu::where_outf>;
constexpr binary_fn hardswish_kernel =
    cpu::iterator_kernel<op::hardswish, at::cpu::hardswish_outf>;
constexpr binary_fn hardswish_backward_kernel =
    cpu::iterator_kernel<op::hardswish_backward, hardswish_backward_out>;
constexpr binary_fn mish_backward_kernel =
    cpu::iterator_kernel<op::mish_backward, mish_backward_out>;
// LITERALINCLUDE END: STUB_KERNELS

// Stubs that take more than operands. The iterator has the elements to write and the
// index; the output is a separate argument.
void put_kernel(at::TensorIterator& iterator, const at::TensorBase& self,
                bool accumulate) {
  cpu::call("put_", put_out, iterator.tensor(1), iterator.tensor(0), accumulate,
            at::Tensor(self));
}

// A negative eps stands for none.
void logit_kernel(at::TensorIteratorBase& iterator, const at::Scalar& eps) {
  const double limit = eps.toDouble();
  // The kernel would convert integers to the default dtype at the time when it runs.
  cpu::call("logit", at::cpu::logit_outf,
            iterator.tensor(1).to(iterator.common_dtype()),
            limit < 0 ? std::nullopt : std::make_optional(limit), iterator.tensor(0));
}

// The iterator has two outputs, and then the input, the weight and the gradient.
void prelu_backward_kernel(at::TensorIterator& iterator) {
  cpu::call("_prelu_kernel_backward", cpu::out_variant<at::_prelu_kernel_backward>,
            iterator.tensor(4), iterator.tensor(2), iterator.tensor(3),
            iterator.tensor(0), iterator.tensor(1));
}

void unfold_backward_kernel(at::Tensor& out, const at::Tensor& grad, int64_t dim,
                            int64_t size, int64_t step) {
  cpu::call("unfold_backward", cpu::out_variant<at::unfold_backward>, grad, out.sizes(),
            dim, size, step, out);
}

constexpr at::native::binary_fn complex_kernel =
    cpu::iterator_kernel<op::complex, at::complex_outf>;
constexpr at::native::binary_fn polar_kernel =
    cpu::iterator_kernel<op::polar, at::polar_outf>;

// LITERALINCLUDE START: STUB_OPERATORS
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("abs.out", at::native::abs_out);
  m.impl("addr", at::native::addr);
  m.impl("addr.out", at::native::addr_out);
  m.impl("angle", static_cast<at::Tensor (*)(const at::Tensor&)>(at::native::angle));
  m.impl("angle.out", at::native::angle_out);
  m.impl("conj_physical.out", at::native::conj_physical_out);
  m.impl("conj_physical_", at::native::conj_physical_);
  m.impl("floor_divide",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&)>(
             at::native::floor_divide));
  m.impl("floor_divide.out", at::native::floor_divide_out);
  m.impl("floor_divide_.Tensor",
         static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&)>(
             at::native::floor_divide_));
  // LITERALINCLUDE END: STUB_OPERATORS
  m.impl("take", at::native::take);
  m.impl("take.out", at::native::take_out);
  m.impl("logical_not.out", at::native::logical_not_out);
  m.impl("logical_and.out", at::native::logical_and_out);
  m.impl("logical_or.out", at::native::logical_or_out);
  m.impl("logical_xor.out", at::native::logical_xor_out);
  m.impl("where.self",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&,
                                    const at::Tensor&)>(at::native::where));
  m.impl("where.self_out", at::native::where_self_out);
  m.impl("hardswish", at::native::hardswish);
  m.impl("hardswish_", at::native::hardswish_);
  m.impl("hardswish.out", at::native::hardswish_out);
  m.impl("hardswish_backward", at::native::hardswish_backward);
  m.impl("mish_backward", at::native::mish_backward);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("put_", at::native::put_);
  m.impl("logit", at::native::logit);
  m.impl("logit_", at::native::logit_);
  m.impl("logit.out", at::native::logit_out);
  m.impl("_prelu_kernel_backward", at::native::_prelu_kernel_backward);
  m.impl("unfold_backward", at::native::unfold_backward);
  m.impl("complex.out", at::native::complex_out);
  m.impl("polar.out", at::native::polar_out);
}

}  // namespace
}  // namespace openreg

// VENDOR: which kernels you write as dispatch stubs
// LITERALINCLUDE START: STUBS
namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(abs_stub, openreg::abs_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(addr_stub, openreg::addr_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(angle_stub, openreg::angle_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(conj_physical_stub, openreg::conj_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(div_floor_stub, openreg::floor_divide_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(take_stub, openreg::take_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logical_not_stub, openreg::not_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logical_and_stub, openreg::and_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logical_or_stub, openreg::or_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logical_xor_stub, openreg::xor_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(where_kernel, openreg::where_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_stub, openreg::hardswish_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_backward_stub,
                              openreg::hardswish_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(mish_backward_stub, openreg::mish_backward_kernel)
}  // namespace at::native
// LITERALINCLUDE END: STUBS

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(put_stub, openreg::put_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logit_stub, openreg::logit_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(prelu_backward_stub, openreg::prelu_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(unfold_backward_stub, openreg::unfold_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(complex_stub, openreg::complex_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(polar_stub, openreg::polar_kernel)
}  // namespace at::native
