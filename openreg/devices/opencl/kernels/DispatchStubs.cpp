// Operators that ATen computes through a dispatch stub; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/native/Activation.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/hardswish_backward_native.h>
#include <ATen/ops/hardswish_native.h>
#include <ATen/ops/logical_and_native.h>
#include <ATen/ops/logical_not_native.h>
#include <ATen/ops/logical_or_native.h>
#include <ATen/ops/logical_xor_native.h>
#include <ATen/ops/logit_native.h>
#include <ATen/ops/mish_backward_native.h>
#include <ATen/ops/where_native.h>
#include <torch/library.h>

#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"

namespace ocl::opencl::dispatch_stubs {
namespace {

namespace op = at::_ops;

template <class Op, class Out, size_t... kInput>
void fall_back_with(std::index_sequence<kInput...>, const at::TensorIteratorBase& it) {
  at::Tensor out = it.tensor(0);
  fall_back_into<Op, Out>(std::tuple(it.tensor(1 + kInput)...), out);
}

// LITERALINCLUDE START: STUB
// Computes the formula for an operator whose arguments are the inputs of the iterator,
// in order. `Out` is its form with out=, or void.
template <class Op, class Out, class Iterator>
void compute(Iterator& iterator, const Formula& formula,
             at::ScalarType dtype = at::ScalarType::Undefined) {
  if (iterator.numel() > 0 && !pointwise(iterator, formula, {}, dtype)) {
    using Arguments = typename SignatureOf<Op>::Arguments;
    fall_back_with<Op, Out>(std::make_index_sequence<std::tuple_size_v<Arguments>>(),
                            iterator);
  }
}

void abs(at::TensorIteratorBase& iterator) {
  compute<op::abs, op::abs_out>(iterator, {"fabs(a)", "a < 0 ? -a : a", "a"});
}
// LITERALINCLUDE END: STUB

void logical_not(at::TensorIteratorBase& iterator) {
  compute<op::logical_not, op::logical_not_out>(iterator, {"!a"}, iterator.dtype(1));
}
void logical_and(at::TensorIterator& iterator) {
  compute<op::logical_and, op::logical_and_out>(iterator, {"a && b"});
}
void logical_or(at::TensorIterator& iterator) {
  compute<op::logical_or, op::logical_or_out>(iterator, {"a || b"});
}
void logical_xor(at::TensorIterator& iterator) {
  compute<op::logical_xor, op::logical_xor_out>(iterator, {"!a != !b"});
}
void floor_divide(at::TensorIteratorBase& iterator) {
  compute<op::floor_divide, op::floor_divide_out>(iterator, {"div_floor(a, b)"});
}

void where(at::TensorIterator& iterator) {
  compute<op::where_self, op::where_self_out>(iterator, {"a != 0 ? b : c"},
                                              iterator.dtype(0));
}

void hardswish(at::TensorIterator& iterator) {
  compute<op::hardswish, op::hardswish_out>(iterator,
                                            {"a * at_most(at_least(a + 3, 0), 6) / 6"});
}
void hardswish_backward(at::TensorIterator& iterator) {
  compute<op::hardswish_backward, void>(
      iterator, {"b <= -3 ? 0 : b < 3 ? a * (b / 3 + (Value)0.5) : a"});
}
void mish_backward(at::TensorIterator& iterator) {
  compute<op::mish_backward, void>(iterator, {"a * mish_slope(b)"});
}

// A negative eps stands for none.
void logit(at::TensorIteratorBase& iterator, const at::Scalar& eps) {
  const double limit = eps.to<double>();
  const bool taken = limit < 0 ? pointwise(iterator, {"log(a / (1 - a))"})
                               : pointwise(iterator,
                                           {"log(at_most(at_least(a, p), 1 - p) / "
                                            "(1 - at_most(at_least(a, p), 1 - p)))"},
                                           {eps});
  if (!taken) {
    at::Tensor out = iterator.tensor(0);
    fall_back<op::logit_out>(iterator.tensor(1),
                             limit < 0 ? std::nullopt : std::make_optional(limit), out);
  }
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("abs.out", at::native::abs_out);
  m.impl("floor_divide",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&)>(
             at::native::floor_divide));
  m.impl("floor_divide.out", at::native::floor_divide_out);
  m.impl("floor_divide_.Tensor",
         static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&)>(
             at::native::floor_divide_));
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
  m.impl("logit", at::native::logit);
  m.impl("logit_", at::native::logit_);
  m.impl("logit.out", at::native::logit_out);
}

}  // namespace
}  // namespace ocl::opencl::dispatch_stubs

namespace at::native {
namespace stubs = ::ocl::opencl::dispatch_stubs;
REGISTER_PRIVATEUSE1_DISPATCH(abs_stub, stubs::abs)
REGISTER_PRIVATEUSE1_DISPATCH(div_floor_stub, stubs::floor_divide)
REGISTER_PRIVATEUSE1_DISPATCH(logical_not_stub, stubs::logical_not)
REGISTER_PRIVATEUSE1_DISPATCH(logical_and_stub, stubs::logical_and)
REGISTER_PRIVATEUSE1_DISPATCH(logical_or_stub, stubs::logical_or)
REGISTER_PRIVATEUSE1_DISPATCH(logical_xor_stub, stubs::logical_xor)
REGISTER_PRIVATEUSE1_DISPATCH(where_kernel, stubs::where)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_stub, stubs::hardswish)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_backward_stub, stubs::hardswish_backward)
REGISTER_PRIVATEUSE1_DISPATCH(mish_backward_stub, stubs::mish_backward)
REGISTER_PRIVATEUSE1_DISPATCH(logit_stub, stubs::logit)
}  // namespace at::native
