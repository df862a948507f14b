// Registers operators whose kernel is a dispatch stub; see docs/operators/stub.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/native/Activation.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/LinearAlgebra.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/addr_native.h>
#include <ATen/ops/angle_native.h>
#include <ATen/ops/conj_physical_native.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/hardswish_backward_native.h>
#include <ATen/ops/hardswish_native.h>
#include <ATen/ops/logical_and_native.h>
#include <ATen/ops/logical_not_native.h>
#include <ATen/ops/logical_or_native.h>
#include <ATen/ops/logical_xor_native.h>
#include <ATen/ops/mish_backward_native.h>
#include <ATen/ops/take_native.h>
#include <ATen/ops/where_native.h>
#include <torch/library.h>

#include "csrc/aten/native/IntegerDivision.h"
#include "csrc/aten/native/Stub.h"

namespace openreg {
namespace {

namespace op = at::_ops;
namespace cpu = at::cpu;

// On the CPU these two have no form with out=.
at::Tensor& hardswish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                                   at::Tensor& out) {
  return out.copy_(cpu::hardswish_backward(grad, self));
}

at::Tensor& mish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                              at::Tensor& out) {
  return out.copy_(cpu::mish_backward(grad, self));
}

// CUDA has a kernel for bool, the CPU has none.
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  return self.scalar_type() == at::kBool ? out.copy_(self) : cpu::abs_outf(self, out);
}

// ATen's iterator has the vectors as a column and a row.
at::Tensor& addr_out(const at::Tensor& self, const at::Tensor& column,
                     const at::Tensor& row, const at::Scalar& beta,
                     const at::Scalar& alpha, at::Tensor& out) {
  return cpu::addr_outf(self, column.flatten(), row.flatten(), beta, alpha, out);
}

void addr_kernel(at::TensorIterator& iterator, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  compute_with("addr", "addr", iterator.common_dtype(), addr_out,
               std::array{iterator.tensor(0)}, iterator.tensor(1), iterator.tensor(2),
               iterator.tensor(3), beta, alpha);
}

// The iterator has the output and the index; what is read from comes beside it.
void take_kernel(at::TensorIterator& iterator, const at::TensorBase& self) {
  compute_into("take", cpu::take_outf, std::array{iterator.tensor(0)}, at::Tensor(self),
               iterator.tensor(1));
}

using at::native::binary_fn;
using at::native::structured_binary_fn;
using at::native::unary_fn;

// LITERALINCLUDE START: STUB_KERNELS
constexpr unary_fn abs_kernel = iterator_kernel<op::abs, abs_out>;
constexpr unary_fn angle_kernel = iterator_kernel<op::angle, cpu::angle_outf>;
constexpr unary_fn conj_kernel =
    iterator_kernel<op::conj_physical, cpu::conj_physical_outf>;
constexpr unary_fn not_kernel = iterator_kernel<op::logical_not, cpu::logical_not_outf>;
constexpr binary_fn and_kernel =
    iterator_kernel<op::logical_and, cpu::logical_and_outf>;
constexpr binary_fn or_kernel = iterator_kernel<op::logical_or, cpu::logical_or_outf>;
constexpr binary_fn xor_kernel =
    iterator_kernel<op::logical_xor, cpu::logical_xor_outf>;
constexpr structured_binary_fn floor_divide_kernel =
    iterator_kernel<op::floor_divide, floor_divide_out>;
constexpr binary_fn where_kernel = iterator_kernel<op::where_self, cpu::where_outf>;
constexpr binary_fn hardswish_kernel =
    iterator_kernel<op::hardswish, cpu::hardswish_outf>;
constexpr binary_fn hardswish_backward_kernel =
    iterator_kernel<op::hardswish_backward, hardswish_backward_out>;
constexpr binary_fn mish_backward_kernel =
    iterator_kernel<op::mish_backward, mish_backward_out>;
// LITERALINCLUDE END: STUB_KERNELS

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
// LITERALINCLUDE END: STUB_OPERATORS

}  // namespace
}  // namespace openreg

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
