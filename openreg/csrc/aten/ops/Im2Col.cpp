// Cuts images into the columns of a matrix, and back; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/native/im2col_shape_check.h>
#include <ATen/ops/col2im.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/im2col.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool are_pairs(std::initializer_list<at::IntArrayRef> all) {
  return std::all_of(all.begin(), all.end(),
                     [](at::IntArrayRef pair) { return pair.size() == 2; });
}

at::Tensor im2col(const at::Tensor& self, at::IntArrayRef kernel,
                  at::IntArrayRef dilation, at::IntArrayRef padding,
                  at::IntArrayRef stride) {
  check_arguments(are_pairs({kernel, dilation, padding, stride}), [&] {
    at::im2col(zeros_for(self), kernel, dilation, padding, stride);
  });
  at::native::im2col_shape_check(self, at::Tensor(), kernel[0], kernel[1], dilation[0],
                                 dilation[1], padding[0], padding[1], stride[0],
                                 stride[1]);
  int64_t positions = 1;
  for (const int64_t dim : {0, 1}) {
    positions *= at::native::sliding_window_count(
        self.size(dim - 2), padding[dim], dilation[dim], kernel[dim], stride[dim]);
  }
  c10::DimVector sizes{self.size(-3) * kernel[0] * kernel[1], positions};
  if (self.dim() == 4) {
    sizes.insert(sizes.begin(), self.size(0));
  }
  const at::Tensor out = at::empty(sizes, self.options());
  launch_out("im2col", cpu::out_variant<at::im2col>, std::array{out}, self, kernel, dilation,
             padding, stride);
  return out;
}

at::Tensor& im2col_out(const at::Tensor& self, at::IntArrayRef kernel,
                       at::IntArrayRef dilation, at::IntArrayRef padding,
                       at::IntArrayRef stride, at::Tensor& out) {
  return write_out(openreg::im2col(self, kernel, dilation, padding, stride), out);
}

at::Tensor col2im(const at::Tensor& self, at::IntArrayRef output,
                  at::IntArrayRef kernel, at::IntArrayRef dilation,
                  at::IntArrayRef padding, at::IntArrayRef stride) {
  check_arguments(are_pairs({output, kernel, dilation, padding, stride}), [&] {
    at::col2im(zeros_for(self), output, kernel, dilation, padding, stride);
  });
  at::native::col2im_shape_check(self, at::Tensor(), output[0], output[1], kernel[0],
                                 kernel[1], dilation[0], dilation[1], padding[0],
                                 padding[1], stride[0], stride[1]);
  c10::DimVector sizes{self.size(-2) / (kernel[0] * kernel[1]), output[0], output[1]};
  if (self.dim() == 3) {
    sizes.insert(sizes.begin(), self.size(0));
  }
  const at::Tensor out = at::empty(sizes, self.options());
  launch_out("col2im", cpu::out_variant<at::col2im>, std::array{out}, self, output, kernel,
             dilation, padding, stride);
  return out;
}

at::Tensor& col2im_out(const at::Tensor& self, at::IntArrayRef output,
                       at::IntArrayRef kernel, at::IntArrayRef dilation,
                       at::IntArrayRef padding, at::IntArrayRef stride,
                       at::Tensor& out) {
  return write_out(openreg::col2im(self, output, kernel, dilation, padding, stride),
                   out);
}

}  // namespace

void register_im2col(torch::Library& m) {
  m.impl("im2col", openreg::im2col);
  m.impl("im2col.out", im2col_out);
  m.impl("col2im", openreg::col2im);
  m.impl("col2im.out", col2im_out);
}

}  // namespace openreg
