// Operators that layers and losses call, written by hand; see
// docs/operators/structured.md. The others are in NativeFunctions.h.
//
// The signatures are those of the schemas in torch's native_functions.yaml.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymInt.h>
#include <torch/library.h>

#include <array>
#include <optional>
#include <tuple>

namespace openreg {

// ---- Normalization ----

// ops/Normalization.cpp
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

// ops/WeightNorm.cpp
std::tuple<at::Tensor, at::Tensor> weight_norm_interface(const at::Tensor& v,
                                                         const at::Tensor& g,
                                                         int64_t dim);
std::tuple<at::Tensor, at::Tensor> weight_norm_interface_backward(
    const at::Tensor& grad_w, const at::Tensor& saved_v, const at::Tensor& saved_g,
    const at::Tensor& saved_norms, int64_t dim);

// ---- Losses ----

// ops/Loss.cpp
// `reduction` is one of at::Reduction: none, mean or sum.
at::Tensor mse_loss(const at::Tensor& self, const at::Tensor& target,
                    int64_t reduction);
at::Tensor& mse_loss_out(const at::Tensor& self, const at::Tensor& target,
                         int64_t reduction, at::Tensor& out);
at::Tensor smooth_l1_loss(const at::Tensor& self, const at::Tensor& target,
                          int64_t reduction, double beta);
at::Tensor& smooth_l1_loss_out(const at::Tensor& self, const at::Tensor& target,
                               int64_t reduction, double beta, at::Tensor& out);
at::Tensor huber_loss(const at::Tensor& self, const at::Tensor& target,
                      int64_t reduction, double delta);
at::Tensor& huber_loss_out(const at::Tensor& self, const at::Tensor& target,
                           int64_t reduction, double delta, at::Tensor& out);
at::Tensor binary_cross_entropy(const at::Tensor& self, const at::Tensor& target,
                                const std::optional<at::Tensor>& weight,
                                int64_t reduction);
at::Tensor& binary_cross_entropy_out(const at::Tensor& self, const at::Tensor& target,
                                     const std::optional<at::Tensor>& weight,
                                     int64_t reduction, at::Tensor& out);

// ops/MarginLoss.cpp
void register_margin_losses(torch::Library& m);

// ops/NllLoss2d.cpp
std::tuple<at::Tensor, at::Tensor> nll_loss2d_forward(
    const at::Tensor& self, const at::Tensor& target,
    const std::optional<at::Tensor>& weight, int64_t reduction, int64_t ignore_index);
std::tuple<at::Tensor&, at::Tensor&> nll_loss2d_forward_out(
    const at::Tensor& self, const at::Tensor& target,
    const std::optional<at::Tensor>& weight, int64_t reduction, int64_t ignore_index,
    at::Tensor& output, at::Tensor& total_weight);
at::Tensor nll_loss2d_backward(const at::Tensor& grad_output, const at::Tensor& self,
                               const at::Tensor& target,
                               const std::optional<at::Tensor>& weight,
                               int64_t reduction, int64_t ignore_index,
                               const at::Tensor& total_weight);
at::Tensor& nll_loss2d_backward_out(const at::Tensor& grad_output,
                                    const at::Tensor& self, const at::Tensor& target,
                                    const std::optional<at::Tensor>& weight,
                                    int64_t reduction, int64_t ignore_index,
                                    const at::Tensor& total_weight,
                                    at::Tensor& grad_input);

// ops/CtcLoss.cpp
std::tuple<at::Tensor, at::Tensor> ctc_loss(const at::Tensor& log_probs,
                                            const at::Tensor& targets,
                                            at::IntArrayRef input_lengths,
                                            at::IntArrayRef target_lengths,
                                            int64_t blank, bool zero_infinity);
// With lengths as tensors: the host waits for them, as on CUDA.
std::tuple<at::Tensor, at::Tensor> ctc_loss_tensor(const at::Tensor& log_probs,
                                                   const at::Tensor& targets,
                                                   const at::Tensor& input_lengths,
                                                   const at::Tensor& target_lengths,
                                                   int64_t blank, bool zero_infinity);
at::Tensor ctc_loss_backward(const at::Tensor& grad, const at::Tensor& log_probs,
                             const at::Tensor& targets, at::IntArrayRef input_lengths,
                             at::IntArrayRef target_lengths,
                             const at::Tensor& neg_log_likelihood,
                             const at::Tensor& log_alpha, int64_t blank,
                             bool zero_infinity);
at::Tensor ctc_loss_backward_tensor(const at::Tensor& grad, const at::Tensor& log_probs,
                                    const at::Tensor& targets,
                                    const at::Tensor& input_lengths,
                                    const at::Tensor& target_lengths,
                                    const at::Tensor& neg_log_likelihood,
                                    const at::Tensor& log_alpha, int64_t blank,
                                    bool zero_infinity);

// ---- Convolution, pooling and images ----

// ops/AdaptivePooling.cpp
void register_adaptive_pooling(torch::Library& m);

// ops/MaxPooling.cpp
void register_max_pooling(torch::Library& m);

// ops/Padding.cpp
// Registers the operators that have no structured meta function, and those whose CPU
// kernel changes the strides that it requested.
void register_padding(torch::Library& m);

// ops/GridSampler.cpp
void register_grid_sampler(torch::Library& m);

// ops/Im2Col.cpp
void register_im2col(torch::Library& m);

}  // namespace openreg
