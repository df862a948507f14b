// Kernels of layer, group and batch normalization; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace openreg::kernels {

// Writes the gradients of input, weight and bias that are defined in `grads`. `mean`
// and `rstd` are statistics of the forward: one number for each normalized slice.
void layer_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         at::IntArrayRef normalized_shape, const at::Tensor& mean,
                         const at::Tensor& rstd,
                         const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias,
                         const std::array<at::Tensor, 3>& grads);

// The same for group normalization of `N` samples with `C` channels of `HxW` elements.
// `mean` and `rstd` are [N, group].
void group_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         const at::Tensor& mean, const at::Tensor& rstd,
                         const std::optional<at::Tensor>& weight, int64_t N, int64_t C,
                         int64_t HxW, int64_t group,
                         const std::array<at::Tensor, 3>& grads);

// Writes the normalized input, and in training the mean and one over the standard
// deviation of each channel, to `outputs`. Training also updates `running_mean` and
// `running_var` in place.
void batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                const std::optional<at::Tensor>& bias,
                const std::optional<at::Tensor>& running_mean,
                const std::optional<at::Tensor>& running_var, bool training,
                double momentum, double eps, const std::array<at::Tensor, 3>& outputs);

// Writes the gradients of input, weight and bias that are defined in `grads`.
// `save_mean` and `save_invstd` are the statistics that the forward wrote in training.
void batch_norm_backward(const at::Tensor& grad_out, const at::Tensor& input,
                         const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& running_mean,
                         const std::optional<at::Tensor>& running_var,
                         const std::optional<at::Tensor>& save_mean,
                         const std::optional<at::Tensor>& save_invstd, bool train,
                         double eps, const std::array<at::Tensor, 3>& grads);

}  // namespace openreg::kernels
