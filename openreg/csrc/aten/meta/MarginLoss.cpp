// Meta functions of losses with a margin; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/MarginLoss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/multi_margin_loss.h>
#include <ATen/ops/multi_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_forward.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using Weight = std::optional<at::Tensor>;

// Zeros for the CPU's operator, in float32 where it has no kernel for the dtype.
at::Tensor wide_zeros_for(const at::Tensor& tensor) {
  const at::Tensor zeros = zeros_for(tensor);
  return at::isReducedFloatingType(zeros.scalar_type()) ? zeros.to(at::kFloat) : zeros;
}
Weight wide_zeros_for(const Weight& tensor) {
  return is_given(tensor) ? std::make_optional(wide_zeros_for(*tensor)) : std::nullopt;
}

bool fits_one_class(const at::Tensor& self, const at::Tensor& target,
                    const at::Scalar& p, const Weight& weight) {
  const double power = p.toDouble();
  return self.dim() == 2 && self.size(1) > 0 && target.dim() == 1 &&
         target.numel() == self.size(0) && target.scalar_type() == at::kLong &&
         (power == 1 || power == 2) &&
         (!is_given(weight) || (weight->numel() == self.size(1) && weight->dim() <= 1 &&
                                weight->scalar_type() == self.scalar_type()));
}

bool fits_labels(const at::Tensor& self, const at::Tensor& target) {
  return (self.dim() == 1 || self.dim() == 2) && self.size(-1) > 0 &&
         target.sizes() == self.sizes() && target.scalar_type() == at::kLong;
}

// The sizes of the loss: with a batch, those of `batch` if it is not reduced.
at::IntArrayRef sizes_of(int64_t reduction, bool has_batch, at::IntArrayRef batch) {
  return reduction == at::Reduction::None && has_batch ? batch : at::IntArrayRef();
}

at::IntArrayRef one_class_sizes(const at::Tensor& target, int64_t reduction) {
  return sizes_of(reduction, target.dim() > 0, target.sizes());
}

at::IntArrayRef label_sizes(const at::Tensor& target, int64_t reduction) {
  const bool has_batch = target.dim() > 1;
  return sizes_of(reduction, has_batch, target.sizes().slice(0, has_batch ? 1 : 0));
}

}  // namespace

void MultiMarginLoss::meta(const at::Tensor& self, const at::Tensor& target,
                           const at::Scalar& p, const at::Scalar& margin,
                           const Weight& weight, int64_t reduction) {
  check_arguments(fits_one_class(self, target, p, weight), [&] {
    at::multi_margin_loss(wide_zeros_for(self), zeros_for(target), p, margin,
                          wide_zeros_for(weight), reduction);
  });
  output(0, one_class_sizes(target, reduction), self.options());
}

void MultiMarginLossBackward::meta(const at::Tensor& grad_output,
                                   const at::Tensor& self, const at::Tensor& target,
                                   const at::Scalar& p, const at::Scalar& margin,
                                   const Weight& weight, int64_t reduction) {
  check_arguments(fits_one_class(self, target, p, weight) &&
                      grad_output.sizes() == one_class_sizes(target, reduction) &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] {
                    at::multi_margin_loss_backward(wide_zeros_for(grad_output),
                                                   wide_zeros_for(self),
                                                   zeros_for(target), p, margin,
                                                   wide_zeros_for(weight), reduction);
                  });
  output(0, self.sizes(), self.options());
}

void MultilabelMarginLoss::meta(const at::Tensor& self, const at::Tensor& target,
                                int64_t reduction) {
  check_arguments(fits_labels(self, target), [&] {
    at::multilabel_margin_loss_forward(wide_zeros_for(self), zeros_for(target),
                                       reduction);
  });
  output(0, label_sizes(target, reduction), self.options());
  output(1, target.sizes(), self.options());
}

void MultilabelMarginLossBackward::meta(const at::Tensor& grad_output,
                                        const at::Tensor& self,
                                        const at::Tensor& target, int64_t reduction,
                                        const at::Tensor& is_target) {
  check_arguments(fits_labels(self, target) && is_target.sizes() == target.sizes() &&
                      grad_output.sizes() == label_sizes(target, reduction) &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] {
                    at::multilabel_margin_loss_backward(
                        wide_zeros_for(grad_output), wide_zeros_for(self),
                        zeros_for(target), reduction, wide_zeros_for(is_target));
                  });
  output(0, self.sizes(), self.options());
}

}  // namespace openreg
