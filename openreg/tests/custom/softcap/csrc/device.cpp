// softcap on the openreg device; see docs/operators/custom.md.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <cmath>

#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "softcap.h"

namespace softcap {
namespace {

using openreg::KernelTensorArg;

// LITERALINCLUDE START: SOFTCAP_DEVICE_CODE
// Device code: addresses and numbers. Half precision is computed in float.
template <class T, class Real = at::opmath_type<T>>
void kernel(const T* x, const T* bias, T* y, int64_t count, int64_t features,
            Real cap) {
  for (int64_t i = 0; i < count; ++i) {
    const Real sum = static_cast<Real>(x[i]) + static_cast<Real>(bias[i % features]);
    y[i] = static_cast<T>(cap * std::tanh(sum / cap));
  }
}
// LITERALINCLUDE END: SOFTCAP_DEVICE_CODE

template <class T, class Real = at::opmath_type<T>>
void backward_kernel(const T* grad, const T* y, T* out, int64_t count, Real cap) {
  for (int64_t i = 0; i < count; ++i) {
    const Real tanh = static_cast<Real>(y[i]) / cap;
    out[i] = static_cast<T>(static_cast<Real>(grad[i]) * (1 - tanh * tanh));
  }
}

// LITERALINCLUDE START: SOFTCAP_OPENREG
at::Tensor softcap_openreg(const at::Tensor& x, const at::Tensor& bias, double cap) {
  check(x, bias, cap);                                                // (1)
  const at::Tensor from = x.contiguous(), added = bias.contiguous();  // (2)
  const at::Tensor to = at::empty_like(from);
  openreg::launch("softcap", to.device(),
                  [y = KernelTensorArg(to), x = KernelTensorArg::input(from),
                   bias = KernelTensorArg::input(added), cap] {         // (3)
                    const at::Tensor in = x.alias(), b = bias.alias();  // (4)
                    const at::Tensor out = y.alias();
                    AT_DISPATCH_FLOATING_TYPES_AND2(
                        at::kHalf, at::kBFloat16, out.scalar_type(), "softcap", [&] {
                          kernel<scalar_t>(in.const_data_ptr<scalar_t>(),
                                           b.const_data_ptr<scalar_t>(),
                                           out.mutable_data_ptr<scalar_t>(),
                                           out.numel(), b.numel(),
                                           static_cast<at::opmath_type<scalar_t>>(cap));
                        });
                  });
  return to;  // (5)
}
// LITERALINCLUDE END: SOFTCAP_OPENREG

at::Tensor softcap_backward_openreg(const at::Tensor& grad, const at::Tensor& y,
                                    double cap) {
  check_backward(grad, y, cap);
  const at::Tensor from = grad.contiguous(), saved = y.contiguous();
  const at::Tensor to = at::empty_like(saved);
  openreg::launch(
      "softcap_backward", to.device(),
      [to = KernelTensorArg(to), grad = KernelTensorArg::input(from),
       y = KernelTensorArg::input(saved), cap] {
        const at::Tensor in = grad.alias(), saved = y.alias();
        const at::Tensor out = to.alias();
        AT_DISPATCH_FLOATING_TYPES_AND2(
            at::kHalf, at::kBFloat16, out.scalar_type(), "softcap_backward", [&] {
              backward_kernel<scalar_t>(in.const_data_ptr<scalar_t>(),
                                        saved.const_data_ptr<scalar_t>(),
                                        out.mutable_data_ptr<scalar_t>(), out.numel(),
                                        static_cast<at::opmath_type<scalar_t>>(cap));
            });
      });
  return to;
}

}  // namespace

// LITERALINCLUDE START: SOFTCAP_REGISTER_DEVICE
TORCH_LIBRARY_IMPL(softcap, PrivateUse1, m) {
  m.impl("softcap", &softcap_openreg);
  m.impl("softcap_backward", &softcap_backward_openreg);
}
// LITERALINCLUDE END: SOFTCAP_REGISTER_DEVICE

}  // namespace softcap
