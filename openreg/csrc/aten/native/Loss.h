// Losses that compare two tensors and reduce; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

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

}  // namespace openreg
