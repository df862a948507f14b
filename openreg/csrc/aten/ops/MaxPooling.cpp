// Maximum pooling over volumes, and its inverse; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/Context.h>
#include <ATen/native/Pool.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/fractional_max_pool3d_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/max_unpool2d.h>
#include <ATen/ops/max_unpool3d.h>

#include <algorithm>
#include <limits>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/kernels/MaxPooling.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

bool one_or_three(at::IntArrayRef values) {
  return values.size() == 1 || values.size() == 3;
}

// ATen's kernels compute with numbers of 32 bits.
bool fit_int(at::IntArrayRef values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) {
    return value <= std::numeric_limits<int>::max();
  });
}

// The sizes after pooling, checked with torch's own words.
c10::DimVector pooled(const at::Tensor& self, at::IntArrayRef kernel,
                      at::IntArrayRef stride, at::IntArrayRef padding,
                      at::IntArrayRef dilation, bool ceil_mode) {
  const bool fits =
      one_or_three(kernel) && one_or_three(padding) && one_or_three(dilation) &&
      (stride.empty() || one_or_three(stride)) &&
      (self.dim() == 4 || self.dim() == 5) && has_elements(self, self.dim() - 4) &&
      none_below(kernel, 1) && none_below(stride, 1) && none_below(dilation, 1) &&
      none_below(padding, 0) && fit_int(kernel) && fit_int(stride) &&
      fit_int(dilation) && fit_int(padding);
  const auto ask_cpu = [&] {
    at::max_pool3d_with_indices(zeros_for(self), kernel, stride, padding, dilation,
                                ceil_mode);
  };
  check_arguments(fits, ask_cpu);
  c10::DimVector sizes(self.sizes());
  bool is_valid = true;
  for (const int64_t dim : {0, 1, 2}) {
    const auto of = [&](at::IntArrayRef values) {
      return values.size() == 1 ? values[0] : values[dim];
    };
    const int64_t step = stride.empty() ? of(kernel) : of(stride);
    int64_t& size = sizes[sizes.size() - 3 + dim];
    is_valid &= of(kernel) / 2 >= of(padding);
    size = at::native::pooling_output_shape_pad_lr<int64_t>(
        size, of(kernel), of(padding), of(padding), step, of(dilation), ceil_mode);
    is_valid &= size >= 1;
  }
  check_arguments(is_valid, ask_cpu);
  return sizes;
}

TwoTensors max_pool3d(const at::Tensor& self, at::IntArrayRef kernel,
                      at::IntArrayRef stride, at::IntArrayRef padding,
                      at::IntArrayRef dilation, bool ceil_mode) {
  const c10::DimVector sizes =
      pooled(self, kernel, stride, padding, dilation, ceil_mode);
  const auto format = format_of(self, 5);
  const at::Tensor out = at::empty(sizes, self.options(), format);
  const at::Tensor indices = at::empty(sizes, self.options().dtype(at::kLong), format);
  launch_out("max_pool3d_with_indices", cpu::out_variant<at::max_pool3d_with_indices>,
             std::array{out, indices}, self, kernel, stride, padding, dilation,
             ceil_mode);
  return {out, indices};
}

std::tuple<at::Tensor&, at::Tensor&> max_pool3d_out(
    const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode, at::Tensor& out,
    at::Tensor& indices) {
  const auto [values, places] =
      max_pool3d(self, kernel, stride, padding, dilation, ceil_mode);
  return {write_out(values, out), write_out(places, indices)};
}

at::Tensor max_pool3d_backward(const at::Tensor& grad_output, const at::Tensor& self,
                               at::IntArrayRef kernel, at::IntArrayRef stride,
                               at::IntArrayRef padding, at::IntArrayRef dilation,
                               bool ceil_mode, const at::Tensor& indices) {
  check_same_device("max_pool3d_with_indices_backward", grad_output, self, indices);
  const c10::DimVector sizes =
      pooled(self, kernel, stride, padding, dilation, ceil_mode);
  check_arguments(grad_output.sizes() == at::IntArrayRef(sizes) &&
                      indices.sizes() == at::IntArrayRef(sizes) &&
                      indices.scalar_type() == at::kLong &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] {
                    at::max_pool3d_with_indices_backward(
                        zeros_for(grad_output), zeros_for(self), kernel, stride,
                        padding, dilation, ceil_mode, zeros_for(indices));
                  });
  const at::Tensor grad_input = at::empty_like(self, format_of(self, 5));
  launch_out("max_pool3d_with_indices_backward",
             cpu::out_variant<at::max_pool3d_with_indices_backward>, std::array{grad_input},
             grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices);
  return grad_input;
}

at::Tensor& max_pool3d_backward_out(const at::Tensor& grad_output,
                                    const at::Tensor& self, at::IntArrayRef kernel,
                                    at::IntArrayRef stride, at::IntArrayRef padding,
                                    at::IntArrayRef dilation, bool ceil_mode,
                                    const at::Tensor& indices, at::Tensor& grad_input) {
  return write_out(max_pool3d_backward(grad_output, self, kernel, stride, padding,
                                       dilation, ceil_mode, indices),
                   grad_input);
}

template <int64_t kDims>
bool fits_unpooling(const at::Tensor& self, const at::Tensor& indices,
                    at::IntArrayRef output_size) {
  const int64_t batch = self.dim() - kDims - 1;
  return (batch == 0 || batch == 1) && has_elements(self, batch) &&
         indices.sizes() == self.sizes() && indices.scalar_type() == at::kLong &&
         output_size.size() == kDims && none_below(output_size, 1);
}

c10::DimVector unpooled(const at::Tensor& self, at::IntArrayRef output_size) {
  c10::DimVector sizes(self.sizes());
  std::copy(output_size.begin(), output_size.end(), sizes.end() - output_size.size());
  return sizes;
}

at::Tensor max_unpool2d(const at::Tensor& self, const at::Tensor& indices,
                        at::IntArrayRef output_size) {
  check_same_device("max_unpool2d", self, indices);
  at::globalContext().alertNotDeterministic("max_unpooling2d_forward_out");
  check_arguments(fits_unpooling<2>(self, indices, output_size), [&] {
    at::max_unpool2d(zeros_for(self), zeros_for(indices), output_size);
  });
  const at::Tensor out =
      at::empty(unpooled(self, output_size), self.options(), format_of(self, 4));
  launch_out("max_unpool2d", kernels::max_unpool2d_out, std::array{out}, self, indices,
             output_size);
  return out;
}

at::Tensor& max_unpool2d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::Tensor& out) {
  return write_out(openreg::max_unpool2d(self, indices, output_size), out);
}

at::Tensor max_unpool3d(const at::Tensor& self, const at::Tensor& indices,
                        at::IntArrayRef output_size, at::IntArrayRef stride,
                        at::IntArrayRef padding) {
  check_same_device("max_unpool3d", self, indices);
  at::globalContext().alertNotDeterministic("max_unpooling3d_forward_out");
  check_arguments(fits_unpooling<3>(self, indices, output_size) && stride.size() == 3 &&
                      padding.size() == 3 && none_below(stride, 1),
                  [&] {
                    at::max_unpool3d(zeros_for(self), zeros_for(indices), output_size,
                                     stride, padding);
                  });
  const at::Tensor out =
      at::empty(unpooled(self, output_size), self.options(), format_of(self, 5));
  launch_out("max_unpool3d", kernels::max_unpool3d_out, std::array{out}, self, indices,
             output_size, stride, padding);
  return out;
}

at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::Tensor& out) {
  return write_out(openreg::max_unpool3d(self, indices, output_size, stride, padding),
                   out);
}

at::Tensor fractional_backward(const at::Tensor& grad_output, const at::Tensor& self,
                               at::IntArrayRef kernel, at::IntArrayRef output_size,
                               const at::Tensor& indices) {
  check_same_device("fractional_max_pool3d_backward", grad_output, self, indices);
  check_arguments(fits_unpooling<3>(grad_output, indices, output_size) &&
                      grad_output.dim() == self.dim() && kernel.size() == 3 &&
                      grad_output.sizes() == unpooled(self, output_size),
                  [&] {
                    at::fractional_max_pool3d_backward(zeros_for(grad_output),
                                                       zeros_for(self), kernel,
                                                       output_size, zeros_for(indices));
                  });
  const at::Tensor grad_input = at::empty_like(self, at::MemoryFormat::Contiguous);
  launch_out("fractional_max_pool3d_backward",
             cpu::out_variant<at::fractional_max_pool3d_backward>, std::array{grad_input},
             grad_output, self, kernel, output_size, indices);
  return grad_input;
}

at::Tensor& fractional_backward_out(const at::Tensor& grad_output,
                                    const at::Tensor& self, at::IntArrayRef kernel,
                                    at::IntArrayRef output_size,
                                    const at::Tensor& indices, at::Tensor& grad_input) {
  return write_out(fractional_backward(grad_output, self, kernel, output_size, indices),
                   grad_input);
}

}  // namespace

void register_max_pooling(torch::Library& m) {
  m.impl("max_pool3d_with_indices", max_pool3d);
  m.impl("max_pool3d_with_indices.out", max_pool3d_out);
  m.impl("max_pool3d_with_indices_backward", max_pool3d_backward);
  m.impl("max_pool3d_with_indices_backward.grad_input", max_pool3d_backward_out);
  m.impl("max_unpool2d", openreg::max_unpool2d);
  m.impl("max_unpool2d.out", max_unpool2d_out);
  m.impl("max_unpool3d", openreg::max_unpool3d);
  m.impl("max_unpool3d.out", max_unpool3d_out);
  m.impl("fractional_max_pool3d_backward", fractional_backward);
  m.impl("fractional_max_pool3d_backward.grad_input", fractional_backward_out);
}

}  // namespace openreg
