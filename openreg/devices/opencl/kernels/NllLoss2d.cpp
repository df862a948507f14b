// The negative log likelihood of images; see docs/opencl/kernels.md.
#include "csrc/aten/meta/NllLoss2d.h"

#include <ATen/ops/nll_loss2d_backward_ops.h>
#include <ATen/ops/nll_loss2d_forward_ops.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/NllLoss.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;

bool forward_2d(const Tensor& self, const Tensor& target,
                const std::optional<Tensor>& weight, int64_t reduction,
                int64_t ignore_index, const Tensor& output,
                const Tensor& total_weight) {
  return nll_loss(self, target, or_undefined(weight), reduction, ignore_index, output,
                  total_weight);
}

bool backward_2d(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                 const std::optional<Tensor>& weight, int64_t reduction,
                 int64_t ignore_index, const Tensor& total_weight,
                 const Tensor& grad_input) {
  return nll_loss_backward(grad_output, self, target, or_undefined(weight), reduction,
                           ignore_index, total_weight, grad_input);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::nll_loss2d_forward, op::nll_loss2d_forward_output,
                          NllLoss2d>(m, forward_2d);
  structured_or_fall_back<op::nll_loss2d_backward, op::nll_loss2d_backward_grad_input,
                          NllLoss2dBackward>(m, backward_2d);
}

}  // namespace
}  // namespace ocl::opencl
