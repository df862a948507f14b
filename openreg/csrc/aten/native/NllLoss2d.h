// The negative log likelihood of images; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg {

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

}  // namespace openreg
