// Adaptive average pooling; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

constexpr const char* kNames[] = {"_adaptive_avg_pool2d", "_adaptive_avg_pool3d"};
constexpr const char* kBackwardNames[] = {"_adaptive_avg_pool2d_backward",
                                          "_adaptive_avg_pool3d_backward"};

template <int64_t kDims>
bool fit(const at::Tensor& self) {
  const int64_t batch = self.dim() - kDims - 1;
  return (batch == 0 || batch == 1) && has_elements(self, batch);
}

// ATen's kernels know channels-last images, and no such volumes.
template <int64_t kDims>
at::MemoryFormat format(const at::Tensor& self) {
  return kDims == 2 ? format_of(self, 4) : at::MemoryFormat::Contiguous;
}

template <int64_t kDims, auto* kFunction>
at::Tensor forward(const at::Tensor& self, at::IntArrayRef output_size) {
  check_arguments(
      fit<kDims>(self) && output_size.size() == kDims && none_below(output_size, 0),
      [&] { kFunction(zeros_for(self), output_size); });
  c10::DimVector sizes(self.sizes());
  std::copy(output_size.begin(), output_size.end(), sizes.end() - kDims);
  const at::Tensor out = at::empty(sizes, self.options(), format<kDims>(self));
  launch_out(kNames[kDims - 2], cpu::out_variant<kFunction>, std::array{out}, self,
             output_size);
  return out;
}

template <int64_t kDims, auto* kFunction>
at::Tensor& forward_out(const at::Tensor& self, at::IntArrayRef output_size,
                        at::Tensor& out) {
  return write_out(forward<kDims, kFunction>(self, output_size), out);
}

template <int64_t kDims, auto* kFunction>
at::Tensor backward(const at::Tensor& grad_output, const at::Tensor& self) {
  check_same_device(kBackwardNames[kDims - 2], grad_output, self);
  c10::DimVector expected(self.sizes());
  if (fit<kDims>(self) && grad_output.dim() == self.dim()) {
    std::copy(grad_output.sizes().end() - kDims, grad_output.sizes().end(),
              expected.end() - kDims);
  }
  const bool same_channels = grad_output.sizes() == at::IntArrayRef(expected);
  check_arguments(fit<kDims>(self) && fit<kDims>(grad_output) && same_channels &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] { kFunction(zeros_for(grad_output), zeros_for(self)); });
  TORCH_CHECK(same_channels, "openreg: ", kBackwardNames[kDims - 2],
              ": expected a gradient of ", at::IntArrayRef(expected), ", but got ",
              grad_output.sizes());
  const at::Tensor grad_input = at::empty_like(self, format<kDims>(self));
  launch_out(kBackwardNames[kDims - 2], cpu::out_variant<kFunction>, std::array{grad_input},
             grad_output, self);
  return grad_input;
}

template <int64_t kDims, auto* kFunction>
at::Tensor& backward_out(const at::Tensor& grad_output, const at::Tensor& self,
                         at::Tensor& grad_input) {
  return write_out(backward<kDims, kFunction>(grad_output, self), grad_input);
}

}  // namespace

void register_adaptive_pooling(torch::Library& m) {
  m.impl("_adaptive_avg_pool2d", &forward<2, at::_adaptive_avg_pool2d>);
  m.impl("_adaptive_avg_pool3d", &forward<3, at::_adaptive_avg_pool3d>);
  m.impl("adaptive_avg_pool2d.out", &forward_out<2, at::_adaptive_avg_pool2d>);
  m.impl("adaptive_avg_pool3d.out", &forward_out<3, at::_adaptive_avg_pool3d>);
  m.impl("_adaptive_avg_pool2d_backward",
         &backward<2, at::_adaptive_avg_pool2d_backward>);
  m.impl("_adaptive_avg_pool3d_backward",
         &backward<3, at::_adaptive_avg_pool3d_backward>);
  m.impl("adaptive_avg_pool3d_backward.grad_input",
         &backward_out<3, at::_adaptive_avg_pool3d_backward>);
}

}  // namespace openreg
