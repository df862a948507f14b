// Meta functions that cut images into the columns of a matrix, and back; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Im2Col.h"

#include <ATen/native/im2col_shape_check.h>
#include <ATen/ops/col2im.h>
#include <ATen/ops/im2col.h>
#include <c10/util/DimVector.h>

#include <algorithm>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool are_pairs(std::initializer_list<at::IntArrayRef> all) {
  return std::all_of(all.begin(), all.end(),
                     [](at::IntArrayRef pair) { return pair.size() == 2; });
}

}  // namespace

void Im2Col::meta(const at::Tensor& self, at::IntArrayRef kernel,
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
  output(0, sizes, self.options());
}

void Col2Im::meta(const at::Tensor& self, at::IntArrayRef output_size,
                  at::IntArrayRef kernel, at::IntArrayRef dilation,
                  at::IntArrayRef padding, at::IntArrayRef stride) {
  check_arguments(are_pairs({output_size, kernel, dilation, padding, stride}), [&] {
    at::col2im(zeros_for(self), output_size, kernel, dilation, padding, stride);
  });
  at::native::col2im_shape_check(self, at::Tensor(), output_size[0], output_size[1],
                                 kernel[0], kernel[1], dilation[0], dilation[1],
                                 padding[0], padding[1], stride[0], stride[1]);
  c10::DimVector sizes{self.size(-2) / (kernel[0] * kernel[1]), output_size[0],
                       output_size[1]};
  if (self.dim() == 3) {
    sizes.insert(sizes.begin(), self.size(0));
  }
  output(0, sizes, self.options());
}

}  // namespace openreg
