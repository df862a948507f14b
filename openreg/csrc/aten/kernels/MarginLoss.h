// Losses with a margin; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg::kernels {

// Writes the loss of each row of `self`, or one number if `reduction` asks for it.
// `target` holds one class for each row, `weight` one factor for each class.
at::Tensor& multi_margin_loss_out(const at::Tensor& self, const at::Tensor& target,
                                  const at::Scalar& p, const at::Scalar& margin,
                                  const std::optional<at::Tensor>& weight,
                                  int64_t reduction, at::Tensor& loss);

// Writes the gradient of `self`.
at::Tensor& multi_margin_loss_backward_out(
    const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
    const at::Scalar& p, const at::Scalar& margin,
    const std::optional<at::Tensor>& weight, int64_t reduction, at::Tensor& grad_input);

// Writes the loss of each row, or one number if `reduction` asks for it. Each row of
// `target` lists classes and ends at -1; `is_target` is 1 for the listed ones, else 0.
std::tuple<at::Tensor&, at::Tensor&> multilabel_margin_loss_forward_out(
    const at::Tensor& self, const at::Tensor& target, int64_t reduction,
    at::Tensor& loss, at::Tensor& is_target);

// Writes the gradient of `self`; `is_target` is what the forward has written.
at::Tensor& multilabel_margin_loss_backward_out(
    const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
    int64_t reduction, const at::Tensor& is_target, at::Tensor& grad_input);

}  // namespace openreg::kernels
