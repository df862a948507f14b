// Losses that compare two tensors and reduce; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Reduction.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/smooth_l1_loss.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

// A loss without reduction has shape and memory format of an operation on both tensors,
// any other is one number.
at::Tensor make_loss(const char* name, const at::Tensor& self, const at::Tensor& target,
                     int64_t reduction, at::ScalarType dtype) {
  TORCH_CHECK_VALUE(reduction >= 0 && reduction < at::Reduction::END, name,
                    ": reduction must be 0 (none), 1 (mean) or 2 (sum), not ",
                    reduction);
  if (reduction != at::Reduction::None) {
    return at::empty({}, self.options().dtype(dtype));
  }
  at::Tensor out;
  return at::TensorIterator::binary_op(out, self, target).output().to(dtype);
}

// The kernels take floating-point numbers of two dtypes, but no integers with them.
at::Tensor without_integers(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.is_floating_point() ? tensor : tensor.to(dtype);
}

// With out= the caller's tensor gets the result of `loss` with its sizes.
at::Tensor& write(const at::Tensor& loss, at::Tensor& out) {
  at::native::resize_output(out, loss.sizes());
  return out.copy_(loss);
}

}  // namespace

// ATen's own forms with out= resize their output to the unreduced shape and warn, so
// the launches below call the functional ones.
at::Tensor mse_loss(const at::Tensor& self, const at::Tensor& target,
                    int64_t reduction) {
  check_same_device("mse_loss", self, target);
  const at::ScalarType dtype = at::result_type(self, target);
  at::Tensor out = make_loss("mse_loss", self, target, reduction, dtype);
  launch_out("mse_loss", cpu::out_variant<at::mse_loss>, std::array{out},
             without_integers(self, dtype), without_integers(target, dtype), reduction);
  return out;
}

at::Tensor smooth_l1_loss(const at::Tensor& self, const at::Tensor& target,
                          int64_t reduction, double beta) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  check_same_device("smooth_l1_loss", self, target);
  const at::ScalarType dtype = at::result_type(self, target);
  at::Tensor out = make_loss("smooth_l1_loss", self, target, reduction, dtype);
  launch_out("smooth_l1_loss", cpu::out_variant<at::smooth_l1_loss>, std::array{out},
             without_integers(self, dtype), without_integers(target, dtype), reduction,
             beta);
  return out;
}

at::Tensor huber_loss(const at::Tensor& self, const at::Tensor& target,
                      int64_t reduction, double delta) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  check_same_device("huber_loss", self, target);
  const at::ScalarType dtype = self.scalar_type();
  const at::ScalarType common = at::result_type(self, target);
  TORCH_CHECK(at::canCast(common, dtype), "result type ", common,
              " can't be cast to the desired output type ", dtype);
  at::Tensor out = make_loss("huber_loss", self, target, reduction, dtype);
  launch_out("huber_loss", cpu::out_variant<at::huber_loss>, std::array{out}, self,
             without_integers(target, dtype), reduction, delta);
  return out;
}

at::Tensor binary_cross_entropy(const at::Tensor& self, const at::Tensor& target,
                                const std::optional<at::Tensor>& weight,
                                int64_t reduction) {
  check_same_device("binary_cross_entropy", self, target, weight);
  if (is_given(weight)) {
    const auto sizes = at::infer_size_dimvector(self.sizes(), weight->sizes());
    TORCH_CHECK(at::IntArrayRef(sizes) == self.sizes(), "output with shape ",
                self.sizes(), " doesn't match the broadcast shape ",
                at::IntArrayRef(sizes));
  }
  at::Tensor out = make_loss("binary_cross_entropy", self, target, reduction,
                             at::result_type(self, target));
  launch_out("binary_cross_entropy", cpu::out_variant<at::binary_cross_entropy>,
             std::array{out}, self, target, weight, reduction);
  return out;
}

at::Tensor& mse_loss_out(const at::Tensor& self, const at::Tensor& target,
                         int64_t reduction, at::Tensor& out) {
  return write(openreg::mse_loss(self, target, reduction), out);
}

at::Tensor& smooth_l1_loss_out(const at::Tensor& self, const at::Tensor& target,
                               int64_t reduction, double beta, at::Tensor& out) {
  return write(openreg::smooth_l1_loss(self, target, reduction, beta), out);
}

at::Tensor& huber_loss_out(const at::Tensor& self, const at::Tensor& target,
                           int64_t reduction, double delta, at::Tensor& out) {
  return write(openreg::huber_loss(self, target, reduction, delta), out);
}

at::Tensor& binary_cross_entropy_out(const at::Tensor& self, const at::Tensor& target,
                                     const std::optional<at::Tensor>& weight,
                                     int64_t reduction, at::Tensor& out) {
  return write(openreg::binary_cross_entropy(self, target, weight, reduction), out);
}

}  // namespace openreg
