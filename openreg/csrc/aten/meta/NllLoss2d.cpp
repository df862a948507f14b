// Meta functions of the negative log likelihood of images; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/NllLoss2d.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/nll_loss2d_backward.h>
#include <ATen/ops/nll_loss2d_forward.h>

#include "csrc/aten/common/TensorArguments.h"
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

void NllLoss2d::meta(const at::Tensor& self, const at::Tensor& target,
                     const std::optional<at::Tensor>& weight, int64_t reduction,
                     int64_t ignore_index) {
  check_arguments(fit(self, target, weight), [&] {
    at::nll_loss2d_forward(zeros_for(self), zeros_for(target), zeros_for(weight),
                           reduction, ignore_index);
  });
  const bool one_number = reduction != at::Reduction::None;
  output(0, one_number ? at::IntArrayRef() : target.sizes(), self.options());
  output(1, {}, self.options());
}

void NllLoss2dBackward::meta(const at::Tensor& grad_output, const at::Tensor& self,
                             const at::Tensor& target,
                             const std::optional<at::Tensor>& weight, int64_t reduction,
                             int64_t ignore_index, const at::Tensor& total_weight) {
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
  output(0, self.sizes(), self.options());
  TORCH_CHECK(maybe_get_output(0).is_contiguous(), "grad_input must be contiguous");
}

}  // namespace openreg
