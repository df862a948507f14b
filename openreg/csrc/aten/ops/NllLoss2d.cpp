// The negative log likelihood of images; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nll_loss2d_backward.h>
#include <ATen/ops/nll_loss2d_forward.h>

#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool fit(const at::Tensor& self, const at::Tensor& target,
         const std::optional<at::Tensor>& weight) {
  return self.dim() == 4 && target.dim() == 3 && target.scalar_type() == at::kLong &&
         self.size(0) == target.size(0) && self.size(2) == target.size(1) &&
         self.size(3) == target.size(2) &&
         (!is_given(weight) || (weight->numel() == self.size(1) &&
                                weight->scalar_type() == self.scalar_type()));
}

}  // namespace

std::tuple<at::Tensor&, at::Tensor&> nll_loss2d_forward_out(
    const at::Tensor& self, const at::Tensor& target,
    const std::optional<at::Tensor>& weight, int64_t reduction, int64_t ignore_index,
    at::Tensor& output, at::Tensor& total_weight) {
  check_same_device("nll_loss2d_forward", self, target, weight, output, total_weight);
  check_arguments(fit(self, target, weight), [&] {
    at::nll_loss2d_forward(zeros_for(self), zeros_for(target), zeros_for(weight),
                           reduction, ignore_index);
  });
  check_out_dtype(output, self.scalar_type());
  check_out_dtype(total_weight, self.scalar_type());
  const bool one_number = reduction != at::Reduction::None;
  resize_out(output, one_number ? at::IntArrayRef() : target.sizes());
  total_weight.resize_({});
  launch_out("nll_loss2d_forward", at::nll_loss2d_forward_outf,
             std::array{output, total_weight}, self, target, weight, reduction,
             ignore_index);
  return {output, total_weight};
}

std::tuple<at::Tensor, at::Tensor> nll_loss2d_forward(
    const at::Tensor& self, const at::Tensor& target,
    const std::optional<at::Tensor>& weight, int64_t reduction, int64_t ignore_index) {
  at::Tensor output = at::empty({0}, self.options());
  at::Tensor total_weight = at::empty({0}, self.options());
  nll_loss2d_forward_out(self, target, weight, reduction, ignore_index, output,
                         total_weight);
  return {output, total_weight};
}

at::Tensor& nll_loss2d_backward_out(const at::Tensor& grad_output,
                                    const at::Tensor& self, const at::Tensor& target,
                                    const std::optional<at::Tensor>& weight,
                                    int64_t reduction, int64_t ignore_index,
                                    const at::Tensor& total_weight,
                                    at::Tensor& grad_input) {
  check_same_device("nll_loss2d_backward", grad_output, self, target, weight,
                    total_weight, grad_input);
  const bool grad_fits = reduction == at::Reduction::None
                             ? grad_output.sizes() == target.sizes()
                             : grad_output.numel() == 1 && grad_output.dim() <= 1;
  check_arguments(
      fit(self, target, weight) && grad_fits && self.is_contiguous() &&
          grad_output.scalar_type() == self.scalar_type() &&
          total_weight.numel() == 1 && total_weight.scalar_type() == self.scalar_type(),
      [&] {
        at::nll_loss2d_backward(zeros_for(grad_output), zeros_for(self),
                                zeros_for(target), zeros_for(weight), reduction,
                                ignore_index, zeros_for(total_weight));
      });
  check_out_dtype(grad_input, self.scalar_type());
  grad_input.resize_as_(self);
  TORCH_CHECK(grad_input.is_contiguous(), "grad_input must be contiguous");
  launch_out("nll_loss2d_backward", at::nll_loss2d_backward_outf,
             std::array{grad_input}, grad_output, self, target, weight, reduction,
             ignore_index, total_weight);
  return grad_input;
}

at::Tensor nll_loss2d_backward(const at::Tensor& grad_output, const at::Tensor& self,
                               const at::Tensor& target,
                               const std::optional<at::Tensor>& weight,
                               int64_t reduction, int64_t ignore_index,
                               const at::Tensor& total_weight) {
  at::Tensor grad_input = at::empty({0}, self.options());
  return nll_loss2d_backward_out(grad_output, self, target, weight, reduction,
                                 ignore_index, total_weight, grad_input);
}

}  // namespace openreg
