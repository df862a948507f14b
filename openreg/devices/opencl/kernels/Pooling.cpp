// Maximum, average and adaptive average pooling; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>
#include <ATen/ops/avg_pool2d_backward_meta.h>
#include <ATen/ops/avg_pool2d_meta.h>
#include <ATen/ops/avg_pool3d_backward_meta.h>
#include <ATen/ops/avg_pool3d_meta.h>
#include <ATen/ops/max_pool2d_with_indices_backward_meta.h>
#include <ATen/ops/max_pool2d_with_indices_meta.h>

#include "csrc/aten/meta/AdaptivePooling.h"
#include "csrc/aten/meta/MaxPooling.h"
#include "csrc/kernels/PoolingSource.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::kernels::pool {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::IntArrayRef;
using at::Tensor;

// The struct of the same name in OpenCL C.
struct Shape {
  int64_t count, channels, in_size[3], out_size[3], kernel[3], stride[3], padding[3],
      dilation[3], in[5], out[5], indices[5], divisor, include_padding;
};

// As images of three dimensions: batch, channels, depth, height, width.
template <int64_t kDims>
Tensor to_volumes(const Tensor& tensor) {
  Tensor volumes = tensor;
  if (volumes.defined() && volumes.dim() == kDims + 1) {
    volumes = volumes.unsqueeze(0);
  }
  return kDims == 2 && volumes.defined() ? volumes.unsqueeze(2) : volumes;
}

template <int64_t kDims>
void set_window(int64_t (&to)[3], IntArrayRef values, int64_t fill) {
  std::fill_n(to, 3, fill);
  for (int64_t dim = 0; dim < kDims && !values.empty(); ++dim) {
    to[3 - kDims + dim] = values.size() == 1 ? values[0] : values[dim];
  }
}

bool has_pooling(const Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  return opencl::supports(dtype) && (opencl::is_floating(dtype) || dtype == at::kLong);
}

struct Windows {
  IntArrayRef kernel, stride, padding, dilation;
  bool include_padding = false;
  int64_t divisor = 0;
};

// `in` is the larger side: the input or its gradient.
template <int64_t kDims>
Shape make_shape(const Tensor& in, const Tensor& out, const Tensor& indices,
                 const Windows& windows) {
  Shape shape{};
  shape.channels = in.size(1);
  std::copy(in.sizes().begin() + 2, in.sizes().end(), shape.in_size);
  std::copy(out.sizes().begin() + 2, out.sizes().end(), shape.out_size);
  std::ranges::copy(in.strides(), shape.in);
  std::ranges::copy(out.strides(), shape.out);
  if (indices.defined()) {
    std::ranges::copy(indices.strides(), shape.indices);
  }
  set_window<kDims>(shape.kernel, windows.kernel, 1);
  set_window<kDims>(shape.stride,
                    windows.stride.empty() ? windows.kernel : windows.stride, 1);
  set_window<kDims>(shape.padding, windows.padding, 0);
  set_window<kDims>(shape.dilation, windows.dilation, 1);
  shape.divisor = windows.divisor;
  shape.include_padding = windows.include_padding ? 1 : 0;
  return shape;
}

template <int64_t kDims>
bool forward(const char* options, const Tensor& input, const Windows& windows,
             const Tensor& output, const Tensor& places = {}) {
  if (!has_pooling(input) || output.scalar_type() != input.scalar_type()) {
    return false;
  }
  const Tensor in = to_volumes<kDims>(input), out = to_volumes<kDims>(output);
  const Tensor indices = to_volumes<kDims>(places);
  Shape shape = make_shape<kDims>(in, out, indices, windows);
  shape.count = out.numel();
  opencl::launch(kPooling, "forward", opencl::define("T", in.scalar_type()) + options,
                 opencl::Range::items(shape.count), opencl::writes(out),
                 opencl::writes(indices), in, shape);
  return true;
}

template <int64_t kDims>
bool backward(const char* options, const Tensor& grad, const Windows& windows,
              const Tensor& of_input, const Tensor& places = {}) {
  if (!has_pooling(grad) || of_input.scalar_type() != grad.scalar_type()) {
    return false;
  }
  const Tensor in = to_volumes<kDims>(of_input), out = to_volumes<kDims>(grad);
  const Tensor indices = to_volumes<kDims>(places);
  Shape shape = make_shape<kDims>(in, out, indices, windows);
  shape.count = in.numel();
  opencl::launch(kPooling, "backward", opencl::define("T", in.scalar_type()) + options,
                 opencl::Range::items(shape.count), opencl::writes(in), indices, out,
                 shape);
  return true;
}

template <int64_t kDims>
bool max_pool(const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, bool, const Tensor& out,
              const Tensor& indices) {
  return forward<kDims>("-DMAX", self, {kernel, stride, padding, dilation}, out,
                        indices);
}

template <int64_t kDims>
bool max_pool_backward(const Tensor& grad, const Tensor&, IntArrayRef kernel,
                       IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                       bool, const Tensor& indices, const Tensor& of_input) {
  return backward<kDims>("-DMAX", grad, {kernel, stride, padding, dilation}, of_input,
                         indices);
}

template <int64_t kDims>
bool avg_pool(const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
              IntArrayRef padding, bool, bool include_padding,
              std::optional<int64_t> divisor, const Tensor& out) {
  return forward<kDims>(
      "", self, {kernel, stride, padding, {}, include_padding, divisor.value_or(0)},
      out);
}

template <int64_t kDims>
bool avg_pool_backward(const Tensor& grad, const Tensor&, IntArrayRef kernel,
                       IntArrayRef stride, IntArrayRef padding, bool,
                       bool include_padding, std::optional<int64_t> divisor,
                       const Tensor& of_input) {
  return backward<kDims>(
      "", grad, {kernel, stride, padding, {}, include_padding, divisor.value_or(0)},
      of_input);
}

template <int64_t kDims>
bool adaptive_avg_pool(const Tensor& self, IntArrayRef, const Tensor& out) {
  return forward<kDims>("-DADAPTIVE", self, {}, out);
}

template <int64_t kDims>
bool adaptive_avg_pool_backward(const Tensor& grad, const Tensor&,
                                const Tensor& of_input) {
  return backward<kDims>("-DADAPTIVE", grad, {}, of_input);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using opencl::structured_or_fall_back;
  using opencl::structured_or_fall_back_without_out;
  structured_or_fall_back<op::max_pool2d_with_indices, op::max_pool2d_with_indices_out,
                          meta::structured_max_pool2d_with_indices>(m, max_pool<2>);
  structured_or_fall_back<op::max_pool2d_with_indices_backward,
                          op::max_pool2d_with_indices_backward_grad_input,
                          meta::structured_max_pool2d_with_indices_backward>(
      m, max_pool_backward<2>);
  structured_or_fall_back<op::max_pool3d_with_indices, op::max_pool3d_with_indices_out,
                          MaxPool3d>(m, max_pool<3>);
  structured_or_fall_back<op::max_pool3d_with_indices_backward,
                          op::max_pool3d_with_indices_backward_grad_input,
                          MaxPool3dBackward>(m, max_pool_backward<3>);
  structured_or_fall_back<op::avg_pool2d, op::avg_pool2d_out,
                          meta::structured_avg_pool2d>(m, avg_pool<2>);
  structured_or_fall_back<op::avg_pool2d_backward, op::avg_pool2d_backward_grad_input,
                          meta::structured_avg_pool2d_backward>(m,
                                                                avg_pool_backward<2>);
  structured_or_fall_back<op::avg_pool3d, op::avg_pool3d_out,
                          meta::structured_avg_pool3d>(m, avg_pool<3>);
  structured_or_fall_back<op::avg_pool3d_backward, op::avg_pool3d_backward_grad_input,
                          meta::structured_avg_pool3d_backward>(m,
                                                                avg_pool_backward<3>);
  structured_or_fall_back_without_out<op::_adaptive_avg_pool2d,
                                      AdaptiveAvgPool<2, at::_adaptive_avg_pool2d>>(
      m, adaptive_avg_pool<2>);
  structured_or_fall_back_without_out<op::_adaptive_avg_pool3d,
                                      AdaptiveAvgPool<3, at::_adaptive_avg_pool3d>>(
      m, adaptive_avg_pool<3>);
  structured_or_fall_back_without_out<
      op::_adaptive_avg_pool2d_backward,
      AdaptiveAvgPoolBackward<2, at::_adaptive_avg_pool2d_backward>>(
      m, adaptive_avg_pool_backward<2>);
  structured_or_fall_back_without_out<
      op::_adaptive_avg_pool3d_backward,
      AdaptiveAvgPoolBackward<3, at::_adaptive_avg_pool3d_backward>>(
      m, adaptive_avg_pool_backward<3>);
}

}  // namespace ocl::kernels::pool
