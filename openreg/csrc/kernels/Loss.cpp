// Losses that compare two tensors and reduce; see docs/operators/structured.md.
#include "csrc/aten/meta/Loss.h"

#include <ATen/Operators.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/smooth_l1_loss.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;

// ATen's functions take floating-point numbers of two dtypes, but no integers with
// them.
Tensor without_integers(const Tensor& tensor, at::ScalarType dtype) {
  return tensor.is_floating_point() ? tensor : tensor.to(dtype);
}

// ATen's own forms with out= resize their output to the unreduced shape and warn.
template <auto* kFunction, class... Numbers>
Tensor& loss(const Tensor& self, const Tensor& target, Numbers... numbers,
             Tensor& out) {
  const at::ScalarType dtype = at::result_type(self, target);
  return out.copy_(kFunction(without_integers(self, dtype),
                             without_integers(target, dtype), numbers...));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::mse_loss, op::mse_loss_out, MseLoss, loss<at::mse_loss, int64_t>>(m);
  cpu::on_cpu<op::smooth_l1_loss, op::smooth_l1_loss_out, SmoothL1Loss,
              loss<at::smooth_l1_loss, int64_t, double>>(m);
  cpu::on_cpu<op::huber_loss, op::huber_loss_out, HuberLoss,
              loss<at::huber_loss, int64_t, double>>(m);
  cpu::on_cpu<op::binary_cross_entropy, op::binary_cross_entropy_out,
              BinaryCrossEntropy, cpu::out_variant<at::binary_cross_entropy>>(m);
}

}  // namespace openreg
