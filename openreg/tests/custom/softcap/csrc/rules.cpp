// Autograd and autocast of softcap, without Python; see docs/operators/custom.md.
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace softcap {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What torch.ops.softcap.softcap is in Python: the dispatcher chooses the kernel.
Tensor softcap(const Tensor& x, const Tensor& bias, double cap) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("softcap::softcap", "")
                             .typed<Tensor(const Tensor&, const Tensor&, double)>();
  return op.call(x, bias, cap);
}

Tensor softcap_backward(const Tensor& grad, const Tensor& y, double cap) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("softcap::softcap_backward", "")
                             .typed<Tensor(const Tensor&, const Tensor&, double)>();
  return op.call(grad, y, cap);
}

// LITERALINCLUDE START: SOFTCAP_FUNCTION
struct Softcap : torch::autograd::Function<Softcap> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& bias,
                        double cap) {
    const at::AutoDispatchBelowADInplaceOrView below;  // (1)
    const Tensor y = softcap(x, bias, cap);
    ctx->save_for_backward({y});  // (2)
    ctx->saved_data["cap"] = cap;
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Tensor y = ctx->get_saved_variables()[0];
    const Tensor grad =
        softcap_backward(grads[0], y, ctx->saved_data["cap"].toDouble());
    return {grad, grad.sum_to_size_symint({y.sym_size(-1)}), Tensor()};  // (3)
  }
};
// LITERALINCLUDE END: SOFTCAP_FUNCTION

// The derivative of softcap_backward, for second derivatives of softcap.
struct SoftcapBackward : torch::autograd::Function<SoftcapBackward> {
  static Tensor forward(AutogradContext* ctx, const Tensor& grad, const Tensor& y,
                        double cap) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({grad, y});
    ctx->saved_data["cap"] = cap;
    return softcap_backward(grad, y, cap);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const double cap = ctx->saved_data["cap"].toDouble();
    return {softcap_backward(grads[0], saved[1], cap),
            grads[0] * saved[0] * saved[1] * (-2 / (cap * cap)), Tensor()};
  }
};

// LITERALINCLUDE START: SOFTCAP_REGISTER_AUTOGRAD
TORCH_LIBRARY_IMPL(softcap, Autograd, m) {
  m.impl("softcap", [](const Tensor& x, const Tensor& bias, double cap) {
    return Softcap::apply(x, bias, cap);
  });
  m.impl("softcap_backward", [](const Tensor& grad, const Tensor& y, double cap) {
    return SoftcapBackward::apply(grad, y, cap);
  });
}
// LITERALINCLUDE END: SOFTCAP_REGISTER_AUTOGRAD

// LITERALINCLUDE START: SOFTCAP_AUTOCAST
TORCH_LIBRARY_IMPL(softcap, AutocastPrivateUse1, m) {
  m.impl("softcap", [](const Tensor& x, const Tensor& bias, double cap) {
    const c10::impl::ExcludeDispatchKeyGuard once(
        c10::DispatchKey::AutocastPrivateUse1);
    const auto device = x.device().type();
    return softcap(at::autocast::cached_cast(at::kFloat, x, device),
                   at::autocast::cached_cast(at::kFloat, bias, device), cap);
  });
}
// LITERALINCLUDE END: SOFTCAP_AUTOCAST

}  // namespace
}  // namespace softcap
