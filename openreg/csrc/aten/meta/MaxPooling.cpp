// Meta functions of maximum pooling over volumes, and of its inverse; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/MaxPooling.h"

#include <ATen/Context.h>
#include <ATen/native/Pool.h>
#include <ATen/ops/fractional_max_pool3d_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/max_unpool2d.h>
#include <ATen/ops/max_unpool3d.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <limits>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool one_or_three(at::IntArrayRef values) {
  return values.size() == 1 || values.size() == 3;
}

// ATen's kernels compute with numbers of 32 bits.
bool fit_int(at::IntArrayRef values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) {
    return value <= std::numeric_limits<int>::max();
  });
}

// The sizes after pooling, checked with torch's error messages.
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

}  // namespace

void MaxPool3d::meta(const at::Tensor& self, at::IntArrayRef kernel,
                     at::IntArrayRef stride, at::IntArrayRef padding,
                     at::IntArrayRef dilation, bool ceil_mode) {
  const c10::DimVector sizes =
      pooled(self, kernel, stride, padding, dilation, ceil_mode);
  const auto format = format_of(self, 5);
  output(0, sizes, self.options(), format);
  output(1, sizes, self.options().dtype(at::kLong), format);
}

void MaxPool3dBackward::meta(const at::Tensor& grad_output, const at::Tensor& self,
                             at::IntArrayRef kernel, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::IntArrayRef dilation,
                             bool ceil_mode, const at::Tensor& indices) {
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
  output(0, self.sizes(), self.options(), format_of(self, 5));
}

void MaxUnpool2d::meta(const at::Tensor& self, const at::Tensor& indices,
                       at::IntArrayRef output_size) {
  at::globalContext().alertNotDeterministic("max_unpooling2d_forward_out");
  check_arguments(fits_unpooling<2>(self, indices, output_size), [&] {
    at::max_unpool2d(zeros_for(self), zeros_for(indices), output_size);
  });
  output(0, unpooled(self, output_size), self.options(), format_of(self, 4));
}

void MaxUnpool3d::meta(const at::Tensor& self, const at::Tensor& indices,
                       at::IntArrayRef output_size, at::IntArrayRef stride,
                       at::IntArrayRef padding) {
  at::globalContext().alertNotDeterministic("max_unpooling3d_forward_out");
  check_arguments(fits_unpooling<3>(self, indices, output_size) && stride.size() == 3 &&
                      padding.size() == 3 && none_below(stride, 1),
                  [&] {
                    at::max_unpool3d(zeros_for(self), zeros_for(indices), output_size,
                                     stride, padding);
                  });
  output(0, unpooled(self, output_size), self.options(), format_of(self, 5));
}

void FractionalPool3dBackward::meta(const at::Tensor& grad_output,
                                    const at::Tensor& self, at::IntArrayRef kernel,
                                    at::IntArrayRef output_size,
                                    const at::Tensor& indices) {
  check_arguments(fits_unpooling<3>(grad_output, indices, output_size) &&
                      grad_output.dim() == self.dim() && kernel.size() == 3 &&
                      grad_output.sizes() == unpooled(self, output_size),
                  [&] {
                    at::fractional_max_pool3d_backward(zeros_for(grad_output),
                                                       zeros_for(self), kernel,
                                                       output_size, zeros_for(indices));
                  });
  output(0, self.sizes(), self.options());
}

}  // namespace openreg
