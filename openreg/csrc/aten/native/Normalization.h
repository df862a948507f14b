// Layer, group and batch normalisation; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <tuple>

namespace openreg {

using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

ThreeTensors native_layer_norm(const at::Tensor& input,
                               at::IntArrayRef normalized_shape,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, double eps);
ThreeTensors native_layer_norm_backward(const at::Tensor& grad_out,
                                        const at::Tensor& input,
                                        at::IntArrayRef normalized_shape,
                                        const at::Tensor& mean, const at::Tensor& rstd,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& bias,
                                        std::array<bool, 3> output_mask);
ThreeTensors native_group_norm(const at::Tensor& input,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, int64_t N,
                               int64_t C, int64_t HxW, int64_t group, double eps);
ThreeTensors native_group_norm_backward(const at::Tensor& grad_out,
                                        const at::Tensor& input, const at::Tensor& mean,
                                        const at::Tensor& rstd,
                                        const std::optional<at::Tensor>& weight,
                                        int64_t N, int64_t C, int64_t HxW,
                                        int64_t group, std::array<bool, 3> output_mask);
ThreeTensors native_batch_norm(const at::Tensor& input,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias,
                               const std::optional<at::Tensor>& running_mean,
                               const std::optional<at::Tensor>& running_var,
                               bool training, double momentum, double eps);
ThreeTensors native_batch_norm_legit(const at::Tensor& input,
                                     const std::optional<at::Tensor>& weight,
                                     const std::optional<at::Tensor>& bias,
                                     at::Tensor& running_mean, at::Tensor& running_var,
                                     bool training, double momentum, double eps);
ThreeTensors native_batch_norm_no_stats(const at::Tensor& input,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& bias,
                                        bool training, double momentum, double eps);
std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> native_batch_norm_out(
    const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, bool training, double momentum,
    double eps, at::Tensor& out, at::Tensor& save_mean, at::Tensor& save_invstd);
ThreeTensors native_batch_norm_backward(const at::Tensor& grad_out,
                                        const at::Tensor& input,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& running_mean,
                                        const std::optional<at::Tensor>& running_var,
                                        const std::optional<at::Tensor>& save_mean,
                                        const std::optional<at::Tensor>& save_invstd,
                                        bool train, double eps,
                                        std::array<bool, 3> output_mask);

}  // namespace openreg
