// Losses with a margin; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/multi_margin_loss.h>
#include <ATen/ops/multi_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_backward.h>
#include <ATen/ops/multilabel_margin_loss_forward.h>

#include "csrc/aten/kernels/MarginLoss.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using Weight = std::optional<at::Tensor>;
using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

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

at::Tensor multi_margin_loss(const at::Tensor& self, const at::Tensor& target,
                             const at::Scalar& p, const at::Scalar& margin,
                             const Weight& weight, int64_t reduction) {
  check_same_device("multi_margin_loss", self, target, weight);
  check_arguments(fits_one_class(self, target, p, weight), [&] {
    at::multi_margin_loss(wide_zeros_for(self), zeros_for(target), p, margin,
                          wide_zeros_for(weight), reduction);
  });
  const bool each = reduction == at::Reduction::None && target.dim() > 0;
  const at::Tensor out =
      at::empty(each ? target.sizes() : at::IntArrayRef(), self.options());
  launch_out("multi_margin_loss", kernels::multi_margin_loss_out, std::array{out}, self,
             target, p, margin, weight, reduction);
  return out;
}

at::Tensor& multi_margin_loss_out(const at::Tensor& self, const at::Tensor& target,
                                  const at::Scalar& p, const at::Scalar& margin,
                                  const Weight& weight, int64_t reduction,
                                  at::Tensor& out) {
  return write_out(
      openreg::multi_margin_loss(self, target, p, margin, weight, reduction), out);
}

at::Tensor multi_margin_loss_backward(const at::Tensor& grad_output,
                                      const at::Tensor& self, const at::Tensor& target,
                                      const at::Scalar& p, const at::Scalar& margin,
                                      const Weight& weight, int64_t reduction) {
  check_same_device("multi_margin_loss_backward", grad_output, self, target, weight);
  const bool each = reduction == at::Reduction::None && target.dim() > 0;
  check_arguments(
      fits_one_class(self, target, p, weight) &&
          grad_output.sizes() == (each ? target.sizes() : at::IntArrayRef()) &&
          grad_output.scalar_type() == self.scalar_type(),
      [&] {
        at::multi_margin_loss_backward(wide_zeros_for(grad_output),
                                       wide_zeros_for(self), zeros_for(target), p,
                                       margin, wide_zeros_for(weight), reduction);
      });
  const at::Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  launch_out("multi_margin_loss_backward", kernels::multi_margin_loss_backward_out,
             std::array{out}, grad_output, self, target, p, margin, weight, reduction);
  return out;
}

at::Tensor& multi_margin_loss_backward_out(
    const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
    const at::Scalar& p, const at::Scalar& margin, const Weight& weight,
    int64_t reduction, at::Tensor& grad_input) {
  return write_out(openreg::multi_margin_loss_backward(grad_output, self, target, p,
                                                       margin, weight, reduction),
                   grad_input);
}

bool fits_labels(const at::Tensor& self, const at::Tensor& target) {
  return (self.dim() == 1 || self.dim() == 2) && self.size(-1) > 0 &&
         target.sizes() == self.sizes() && target.scalar_type() == at::kLong;
}

TwoTensors multilabel_margin_loss_forward(const at::Tensor& self,
                                          const at::Tensor& target, int64_t reduction) {
  check_same_device("multilabel_margin_loss_forward", self, target);
  check_arguments(fits_labels(self, target), [&] {
    at::multilabel_margin_loss_forward(wide_zeros_for(self), zeros_for(target),
                                       reduction);
  });
  const bool each = reduction == at::Reduction::None && target.dim() > 1;
  const at::Tensor out =
      at::empty(each ? target.sizes().slice(0, 1) : at::IntArrayRef(), self.options());
  const at::Tensor is_target = at::empty(target.sizes(), self.options());
  launch_out("multilabel_margin_loss_forward",
             kernels::multilabel_margin_loss_forward_out, std::array{out, is_target},
             self, target, reduction);
  return {out, is_target};
}

std::tuple<at::Tensor&, at::Tensor&> multilabel_margin_loss_forward_out(
    const at::Tensor& self, const at::Tensor& target, int64_t reduction,
    at::Tensor& output, at::Tensor& is_target) {
  const auto [loss, labels] =
      openreg::multilabel_margin_loss_forward(self, target, reduction);
  return {write_out(loss, output), write_out(labels, is_target)};
}

at::Tensor multilabel_margin_loss_backward(const at::Tensor& grad_output,
                                           const at::Tensor& self,
                                           const at::Tensor& target, int64_t reduction,
                                           const at::Tensor& is_target) {
  check_same_device("multilabel_margin_loss_backward", grad_output, self, target,
                    is_target);
  const bool each = reduction == at::Reduction::None && target.dim() > 1;
  check_arguments(fits_labels(self, target) && is_target.sizes() == target.sizes() &&
                      grad_output.sizes() ==
                          (each ? target.sizes().slice(0, 1) : at::IntArrayRef()) &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] {
                    at::multilabel_margin_loss_backward(
                        wide_zeros_for(grad_output), wide_zeros_for(self),
                        zeros_for(target), reduction, wide_zeros_for(is_target));
                  });
  const at::Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  launch_out("multilabel_margin_loss_backward",
             kernels::multilabel_margin_loss_backward_out, std::array{out}, grad_output,
             self, target, reduction, is_target);
  return out;
}

at::Tensor& multilabel_margin_loss_backward_out(
    const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
    int64_t reduction, const at::Tensor& is_target, at::Tensor& grad_input) {
  return write_out(openreg::multilabel_margin_loss_backward(grad_output, self, target,
                                                            reduction, is_target),
                   grad_input);
}

}  // namespace

void register_margin_losses(torch::Library& m) {
  m.impl("multi_margin_loss", openreg::multi_margin_loss);
  m.impl("multi_margin_loss.out", multi_margin_loss_out);
  m.impl("multi_margin_loss_backward", openreg::multi_margin_loss_backward);
  m.impl("multi_margin_loss_backward.grad_input", multi_margin_loss_backward_out);
  m.impl("multilabel_margin_loss_forward", openreg::multilabel_margin_loss_forward);
  m.impl("multilabel_margin_loss_forward.output", multilabel_margin_loss_forward_out);
  m.impl("multilabel_margin_loss_backward", openreg::multilabel_margin_loss_backward);
  m.impl("multilabel_margin_loss_backward.grad_input",
         multilabel_margin_loss_backward_out);
}

}  // namespace openreg
