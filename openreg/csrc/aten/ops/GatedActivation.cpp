// Activations without a structured meta function; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/glu_backward.h>
#include <ATen/ops/log_sigmoid_forward.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

at::Tensor glu_backward(const at::Tensor& grad_output, const at::Tensor& self,
                        int64_t dim) {
  check_same_device("glu_backward", grad_output, self);
  const bool has_dim = self.dim() > 0 && dim >= -self.dim() && dim < self.dim();
  c10::DimVector half(self.sizes());
  if (has_dim) {
    half[at::maybe_wrap_dim(dim, self.dim())] /= 2;
  }
  check_arguments(
      has_dim && self.size(dim) % 2 == 0 &&
          grad_output.sizes() == at::IntArrayRef(half) &&
          grad_output.scalar_type() == self.scalar_type(),
      [&] { at::glu_backward(zeros_for(grad_output), zeros_for(self), dim); });
  const at::Tensor out = at::empty(self.sizes(), self.options());
  launch_out("glu_backward", cpu::out_variant<at::glu_backward>, std::array{out},
             grad_output, self, dim);
  return out;
}

at::Tensor& glu_backward_out(const at::Tensor& grad_output, const at::Tensor& self,
                             int64_t dim, at::Tensor& grad_input) {
  return write_out(openreg::glu_backward(grad_output, self, dim), grad_input);
}

TwoTensors log_sigmoid_forward(const at::Tensor& self) {
  const at::Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  const at::Tensor buffer = at::empty_like(self, at::MemoryFormat::Contiguous);
  launch_out("log_sigmoid_forward", cpu::out_variant<at::log_sigmoid_forward>,
             std::array{out, buffer}, self);
  return {out, buffer};
}

std::tuple<at::Tensor&, at::Tensor&> log_sigmoid_forward_out(const at::Tensor& self,
                                                             at::Tensor& output,
                                                             at::Tensor& buffer) {
  const auto [out, saved] = openreg::log_sigmoid_forward(self);
  return {write_out(out, output), write_out(saved, buffer)};
}

}  // namespace

void register_gated_activations(torch::Library& m) {
  m.impl("glu_backward", openreg::glu_backward);
  m.impl("glu_backward.grad_input", glu_backward_out);
  m.impl("log_sigmoid_forward", openreg::log_sigmoid_forward);
  m.impl("log_sigmoid_forward.output", log_sigmoid_forward_out);
}

}  // namespace openreg
