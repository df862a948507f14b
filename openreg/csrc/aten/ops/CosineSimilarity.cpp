// An operator with its own backward; see docs/operators/autograd-function.md.
#include "csrc/aten/ops/NativeFunctions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/cosine_similarity_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/utils.h>

namespace openreg {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// LITERALINCLUDE START: COSINE_FUNCTION
struct CosineSimilarityFunction : torch::autograd::Function<CosineSimilarityFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x1,
                            const at::Tensor& x2, int64_t dim, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;  // (1)
    at::Tensor cosine = at::cosine_similarity(x1, x2, dim, eps);
    ctx->save_for_backward({x1, x2, cosine});  // (2)
    ctx->saved_data["dim"] = dim;
    ctx->saved_data["eps"] = eps;
    return cosine;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads);
};
// LITERALINCLUDE END: COSINE_FUNCTION

// LITERALINCLUDE START: COSINE_BACKWARD
variable_list CosineSimilarityFunction::backward(AutogradContext* ctx,
                                                 const variable_list& grads) {
  const int64_t dim = ctx->saved_data["dim"].toInt();
  const double eps = ctx->saved_data["eps"].toDouble();
  const variable_list saved = ctx->get_saved_variables();
  const at::Tensor grad = grads[0].unsqueeze(dim);
  const at::Tensor slope = grad * saved[2].unsqueeze(dim);
  variable_list x = at::expand_outplace({saved[0], saved[1]});
  variable_list norm(2), length(2);
  for (const size_t i : {0, 1}) {
    x[i] = x[i].to(grad.scalar_type());
    norm[i] = at::linalg_vector_norm(x[i], 2, dim, /*keepdim=*/true);
    length[i] = norm[i].clone();
    const at::NoGradGuard as_if_never_clamped;
    length[i].clamp_min_(eps);
  }
  // LITERALINCLUDE END: COSINE_BACKWARD
  // LITERALINCLUDE START: COSINE_GRADIENTS
  variable_list result(4);  // (1)
  for (const size_t i : {0, 1}) {
    if (ctx->needs_input_grad(i)) {
      const at::Tensor towards_other = x[1 - i] / length[1 - i] * grad;
      const at::Tensor towards_itself =
          x[i] * (slope / norm[i]).masked_fill(norm[i] == 0, 0);
      result[i] = (towards_other - towards_itself) / length[i];  // (2)
    }
  }
  return result;
}
// LITERALINCLUDE END: COSINE_GRADIENTS

}  // namespace

// LITERALINCLUDE START: COSINE_AUTOGRAD
at::Tensor cosine_similarity_autograd(const at::Tensor& x1, const at::Tensor& x2,
                                      int64_t dim, double eps) {
  using torch::autograd::isFwGradDefined;
  const bool in_transform = c10::impl::tls_is_dispatch_key_included(
      c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
  const bool traced = x1.unsafeGetTensorImpl()->is_python_dispatch() ||
                      x2.unsafeGetTensorImpl()->is_python_dispatch();  // (1)
  if (in_transform || traced || isFwGradDefined(x1) || isFwGradDefined(x2)) {
    return at::compositeimplicitautograd::cosine_similarity(x1, x2, dim, eps);
  }
  return CosineSimilarityFunction::apply(x1, x2, dim, eps);
}
// LITERALINCLUDE END: COSINE_AUTOGRAD

}  // namespace openreg
