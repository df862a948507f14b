// Registers operators whose dispatch stub takes more than operands; see
// docs/operators/stub.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/native/Activation.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/_prelu_kernel_backward.h>
#include <ATen/ops/_prelu_kernel_backward_native.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/complex_native.h>
#include <ATen/ops/logit_native.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/polar_native.h>
#include <ATen/ops/put_native.h>
#include <ATen/ops/unfold_backward.h>
#include <ATen/ops/unfold_backward_native.h>
#include <torch/library.h>

#include "csrc/aten/native/HostCheck.h"
#include "csrc/aten/native/Stub.h"

namespace at::native {
// As ATen/native/UnfoldBackward.h declares it, beside functions for CUDA's kernels.
using unfold_backward_fn = void (*)(Tensor&, const Tensor&, int64_t, int64_t, int64_t);
DECLARE_DISPATCH(unfold_backward_fn, unfold_backward_stub)
}  // namespace at::native

namespace openreg {
namespace {

namespace op = at::_ops;

// The iterator has the elements to write and the index; the output comes beside it.
void put_kernel(at::TensorIterator& iterator, const at::TensorBase& self,
                bool accumulate) {
  compute_into(
      "put_",
      +[](const at::Tensor& index, const at::Tensor& source, bool add,
          at::Tensor& out) -> at::Tensor& {
        const Quiet quiet;  // the host has warned already
        return out.put_(index, source, add);
      },
      std::array{at::Tensor(self)}, iterator.tensor(1), iterator.tensor(0), accumulate);
}

// A negative eps stands for none.
void logit_kernel(at::TensorIteratorBase& iterator, const at::Scalar& eps) {
  const double limit = eps.toDouble();
  compute_into("logit", at::cpu::logit_outf, std::array{iterator.tensor(0)},
               iterator.tensor(1),
               limit < 0 ? std::nullopt : std::make_optional(limit));
}

// The iterator has two outputs, and then the input, the weight and the gradient.
void prelu_backward_kernel(at::TensorIterator& iterator) {
  compute_into("_prelu_kernel_backward", Into<at::_prelu_kernel_backward>::write,
               std::array{iterator.tensor(0), iterator.tensor(1)}, iterator.tensor(4),
               iterator.tensor(2), iterator.tensor(3));
}

void unfold_backward_kernel(at::Tensor& out, const at::Tensor& grad, int64_t dim,
                            int64_t size, int64_t step) {
  compute_into("unfold_backward", Into<at::unfold_backward>::write, std::array{out},
               grad, out.sizes(), dim, size, step);
}

constexpr at::native::binary_fn complex_kernel =
    iterator_kernel<op::complex, at::complex_outf>;
constexpr at::native::binary_fn polar_kernel =
    iterator_kernel<op::polar, at::polar_outf>;

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

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(put_stub, openreg::put_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logit_stub, openreg::logit_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(prelu_backward_stub, openreg::prelu_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(unfold_backward_stub, openreg::unfold_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(complex_stub, openreg::complex_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(polar_stub, openreg::polar_kernel)
}  // namespace at::native
