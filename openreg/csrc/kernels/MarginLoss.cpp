// Losses with a margin; see docs/operators/structured.md.
#include "csrc/aten/meta/MarginLoss.h"

#include <ATen/Operators.h>
#include <ATen/ops/multi_margin_loss.h>
#include <ATen/ops/multi_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_forward.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;

// In float32, where CUDA has kernels and the CPU has none.
at::Tensor at_least_float(const at::Tensor& tensor) {
  const bool is_reduced = at::isReducedFloatingType(tensor.scalar_type());
  return is_reduced ? tensor.to(at::kFloat) : tensor;
}
std::optional<at::Tensor> at_least_float(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional(at_least_float(*tensor)) : std::nullopt;
}

at::Tensor& multi_margin_loss_out(const at::Tensor& self, const at::Tensor& target,
                                  const at::Scalar& p, const at::Scalar& margin,
                                  const std::optional<at::Tensor>& weight,
                                  int64_t reduction, at::Tensor& loss) {
  return loss.copy_(at::multi_margin_loss(at_least_float(self), target, p, margin,
                                          at_least_float(weight), reduction));
}

at::Tensor& multi_margin_loss_backward_out(const at::Tensor& grad_output,
                                           const at::Tensor& self,
                                           const at::Tensor& target,
                                           const at::Scalar& p,
                                           const at::Scalar& margin,
                                           const std::optional<at::Tensor>& weight,
                                           int64_t reduction, at::Tensor& grad_input) {
  return grad_input.copy_(at::multi_margin_loss_backward(
      at_least_float(grad_output), at_least_float(self), target, p, margin,
      at_least_float(weight), reduction));
}

std::tuple<at::Tensor&, at::Tensor&> multilabel_margin_loss_forward_out(
    const at::Tensor& self, const at::Tensor& target, int64_t reduction,
    at::Tensor& loss, at::Tensor& is_target) {
  const auto [value, labels] =
      at::multilabel_margin_loss_forward(at_least_float(self), target, reduction);
  return {loss.copy_(value), is_target.copy_(labels)};
}

at::Tensor& multilabel_margin_loss_backward_out(
    const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
    int64_t reduction, const at::Tensor& is_target, at::Tensor& grad_input) {
  return grad_input.copy_(at::multilabel_margin_loss_backward(
      at_least_float(grad_output), at_least_float(self), target, reduction,
      at_least_float(is_target)));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::multi_margin_loss, op::multi_margin_loss_out, MultiMarginLoss,
              multi_margin_loss_out>(m);
  cpu::on_cpu<op::multi_margin_loss_backward, op::multi_margin_loss_backward_grad_input,
              MultiMarginLossBackward, multi_margin_loss_backward_out>(m);
  cpu::on_cpu<op::multilabel_margin_loss_forward,
              op::multilabel_margin_loss_forward_output, MultilabelMarginLoss,
              multilabel_margin_loss_forward_out>(m);
  cpu::on_cpu<op::multilabel_margin_loss_backward,
              op::multilabel_margin_loss_backward_grad_input,
              MultilabelMarginLossBackward, multilabel_margin_loss_backward_out>(m);
}

}  // namespace openreg
