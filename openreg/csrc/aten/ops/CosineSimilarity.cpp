// An operator with a backward of its own; see docs/operators/autograd-function.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/cosine_similarity_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/result_type.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// LITERALINCLUDE START: COSINE_FUNCTION
struct CosineSimilarity : torch::autograd::Function<CosineSimilarity> {
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
variable_list CosineSimilarity::backward(AutogradContext* ctx,
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

at::Tensor cosine_similarity(const at::Tensor& x1, const at::Tensor& x2, int64_t dim,
                             double eps) {
  check_same_device("cosine_similarity", x1, x2);
  const at::ScalarType dtype = at::result_type(x1, x2);
  TORCH_CHECK(at::isFloatingType(dtype),
              "expected common dtype to be floating point, yet common dtype is ",
              dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(!at::isFloat8Type(dtype),
                              "\"norm_cpu\" not implemented for '", dtype, "'");
  at::DimVector sizes = at::infer_size_dimvector(x1.sizes(), x2.sizes());
  const int64_t axis = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  if (!sizes.empty()) {
    sizes.erase(sizes.begin() + axis);
  }
  at::Tensor result = openreg::empty(sizes, dtype, at::kStrided, x1.device(), {}, {});
  if (result.numel() > 0) {
    launch("cosine_similarity", x1.device(),
           [a = KernelTensorArg::input(x1), b = KernelTensorArg::input(x2),
            out = KernelTensorArg(result), dim, eps] {
             at::Tensor result = out.alias();
             cpu::out_variant<at::cosine_similarity>(a.alias(), b.alias(), dim, eps, result);
           });
  }
  return result;
}

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
  return CosineSimilarity::apply(x1, x2, dim, eps);
}
// LITERALINCLUDE END: COSINE_AUTOGRAD

}  // namespace openreg
