// softcap on the openreg device; see docs/operators/custom.md.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <cmath>

#include "csrc/kernels/cpu/Launch.h"
#include "softcap.h"

namespace softcap {
namespace {

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
  openreg::cpu::launch(
      "softcap",  // (3)
      [](const at::Tensor& in, const at::Tensor& b, double cap,
         at::Tensor& out) {  // (4)
        AT_DISPATCH_FLOATING_TYPES_AND2(
            at::kHalf, at::kBFloat16, out.scalar_type(), "softcap", [&] {
              kernel<scalar_t>(in.const_data_ptr<scalar_t>(),
                               b.const_data_ptr<scalar_t>(),
                               out.mutable_data_ptr<scalar_t>(), out.numel(), b.numel(),
                               static_cast<at::opmath_type<scalar_t>>(cap));
            });
      },
      from, added, cap, to);
  return to;  // (5)
}
// LITERALINCLUDE END: SOFTCAP_OPENREG

at::Tensor softcap_backward_openreg(const at::Tensor& grad, const at::Tensor& y,
                                    double cap) {
  check_backward(grad, y, cap);
  const at::Tensor from = grad.contiguous(), saved = y.contiguous();
  const at::Tensor to = at::empty_like(saved);
  openreg::cpu::launch(
      "softcap_backward",
      [](const at::Tensor& in, const at::Tensor& saved, double cap, at::Tensor& out) {
        AT_DISPATCH_FLOATING_TYPES_AND2(
            at::kHalf, at::kBFloat16, out.scalar_type(), "softcap_backward", [&] {
              backward_kernel<scalar_t>(in.const_data_ptr<scalar_t>(),
                                        saved.const_data_ptr<scalar_t>(),
                                        out.mutable_data_ptr<scalar_t>(), out.numel(),
                                        static_cast<at::opmath_type<scalar_t>>(cap));
            });
      },
      from, saved, cap, to);
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
