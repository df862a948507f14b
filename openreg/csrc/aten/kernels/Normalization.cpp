// Kernels of layer, group and batch normalization; see docs/operators/structured.md.
#include "csrc/aten/kernels/Normalization.h"

#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_layer_norm_backward.h>

#include "csrc/aten/kernels/WantedOutputs.h"

namespace openreg::kernels {

void layer_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         at::IntArrayRef normalized_shape, const at::Tensor& mean,
                         const at::Tensor& rstd,
                         const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias,
                         const std::array<at::Tensor, 3>& grads) {
  copy_wanted(grads,
              at::native_layer_norm_backward(grad_out, input, normalized_shape, mean,
                                             rstd, weight, bias, mask_of(grads)));
}

void group_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         const at::Tensor& mean, const at::Tensor& rstd,
                         const std::optional<at::Tensor>& weight, int64_t N, int64_t C,
                         int64_t HxW, int64_t group,
                         const std::array<at::Tensor, 3>& grads) {
  copy_wanted(grads, at::native_group_norm_backward(grad_out, input, mean, rstd, weight,
                                                    N, C, HxW, group, mask_of(grads)));
}

void batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                const std::optional<at::Tensor>& bias,
                const std::optional<at::Tensor>& running_mean,
                const std::optional<at::Tensor>& running_var, bool training,
                double momentum, double eps, const std::array<at::Tensor, 3>& outputs) {
  copy_wanted(outputs, at::native_batch_norm(input, weight, bias, running_mean,
                                             running_var, training, momentum, eps));
}

void batch_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& running_mean,
                         const std::optional<at::Tensor>& running_var,
                         const std::optional<at::Tensor>& save_mean,
                         const std::optional<at::Tensor>& save_invstd, bool train,
                         double eps, const std::array<at::Tensor, 3>& grads) {
  copy_wanted(grads, at::native_batch_norm_backward(
                         grad_out, input, weight, running_mean, running_var, save_mean,
                         save_invstd, train, eps, mask_of(grads)));
}

}  // namespace openreg::kernels
