// The negative log likelihood, of rows or of images; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace ocl::opencl {

// Scores [N, C, I] for targets [N, I], where I is the number of positions of an image.
// `weight`, of the classes, may be undefined. Each returns false, and enqueues nothing,
// where the operator falls back.

bool nll_loss(const at::Tensor& self, const at::Tensor& target,
              const at::Tensor& weight, int64_t reduction, int64_t ignore_index,
              const at::Tensor& output, const at::Tensor& total_weight);

bool nll_loss_backward(const at::Tensor& grad_output, const at::Tensor& self,
                       const at::Tensor& target, const at::Tensor& weight,
                       int64_t reduction, int64_t ignore_index,
                       const at::Tensor& total_weight, const at::Tensor& grad_input);

}  // namespace ocl::opencl
