// Convolutions, forward and backward, as products that gather tiles from an image; see
// docs/opencl/kernels.md.
#include "csrc/kernels/Convolution.h"

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <c10/util/accumulate.h>

#include <algorithm>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/Fallback.h"
#include "csrc/kernels/ProductTiles.h"
#include "csrc/kernels/ReduceLaunch.h"

namespace ocl {
namespace kernels::convolve {
namespace {

using at::IntArrayRef;
using at::Tensor;
using product::Gather;
using product::Image;
using product::launch_gathered;
using product::Shape;

struct Geometry {
  IntArrayRef stride, padding, dilation;
  int64_t groups;
};

// What a tensor of images, or a weight, is in three dimensions.
struct Volume {
  int64_t count, channels, elements;  // of a channel
  int64_t size[3] = {1, 1, 1};

  explicit Volume(const Tensor& tensor)
      : count(tensor.size(0)),
        channels(tensor.size(1)),
        elements(c10::multiply_integers(tensor.sizes().slice(2))) {
    std::copy(tensor.sizes().begin() + 2, tensor.sizes().end(),
              size + 5 - tensor.dim());
  }
  int64_t image() const { return channels * elements; }
};

// From `image`, at `positions` of another tensor and `taps` of the weight.
Image make_image(const Geometry& g, const Volume& image, const Volume& positions,
                 const Volume& taps) {
  Image to{image.image(),
           image.elements,
           {},
           {1, 1, 1},
           {0, 0, 0},
           {1, 1, 1},
           {},
           {},
           0,
           0,
           0,
           0};
  std::ranges::copy(image.size, to.size);
  std::ranges::copy(positions.size, to.positions);
  std::ranges::copy(taps.size, to.taps);
  const auto copy = [](IntArrayRef from, int64_t (&values)[3]) {
    std::copy(from.begin(), from.end(), values + 3 - from.size());
  };
  copy(g.stride, to.stride);
  copy(g.padding, to.padding);
  copy(g.dilation, to.tap);
  return to;
}

// out[n, o, p] = sum over c, t of weight[o, c, t] * image[n, c, p * stride + t]
void correlate(const Tensor& out, const Tensor& image, const Tensor& weight,
               const Tensor& bias, const Geometry& g) {
  const Volume to(out), from(image), taps(weight);
  const int64_t rows = to.channels / g.groups, depth = taps.image();
  const Shape shape{g.groups,
                    rows,
                    to.count * to.elements,
                    depth,
                    {rows * depth, depth, 1},
                    {taps.channels * from.elements, 0, 0},
                    {rows, 1, 0},
                    {rows * to.elements, to.elements, 0}};
  Image layout = make_image(g, from, to, taps);
  layout.a_inner = depth;
  layout.out_inner = to.elements;
  layout.out_outer = to.image();
  launch_gathered(out, weight, image, bias, shape, layout, Gather::TapsByPositions);
}

// out[n, c, p * stride + t] = sum over o, t of weight[o, c, t] * image[n, o, p]
void spread(const Tensor& out, const Tensor& image, const Tensor& weight,
            const Tensor& bias, const Geometry& g) {
  const Volume to(out), from(image), taps(weight);
  const int64_t rows = taps.channels, channels = from.channels / g.groups;
  const Shape shape{g.groups,
                    rows,
                    to.count * to.elements,
                    channels * taps.elements,
                    {channels * taps.image(), taps.elements, 0},
                    {channels * from.elements, 0, 0},
                    {rows, 1, 0},
                    {rows * to.elements, to.elements, 0}};
  Image layout = make_image(g, from, to, taps);
  layout.a_inner = taps.elements;
  layout.a_outer = taps.image();
  layout.out_inner = to.elements;
  layout.out_outer = to.image();
  launch_gathered(out, weight, image, bias, shape, layout, Gather::Divided);
}

// weight[o, c, t] = sum over n, p of steps[n, o, p] * image[n, c, p * stride + t]
void differentiate_weight(const Tensor& weight, const Tensor& steps,
                          const Tensor& image, const Geometry& g) {
  const Volume taps(weight), from(image), at(steps);
  const int64_t rows = at.channels / g.groups, columns = taps.image();
  const Shape shape{g.groups,
                    rows,
                    columns,
                    at.count * at.elements,
                    {rows * at.elements, at.elements, 0},
                    {taps.channels * from.elements, 0, 0},
                    {0, 0, 0},
                    {rows * columns, columns, 0}};
  Image layout = make_image(g, from, at, taps);
  layout.a_inner = at.elements;
  layout.a_outer = at.image();
  layout.out_inner = columns;
  launch_gathered(weight, steps, image, {}, shape, layout, Gather::PositionsByTaps);
}

void sum_to_bias(const Tensor& grad, const Tensor& bias) {
  reduce::Dims dims = reduce::dims_of(grad, at::OptionalIntArrayRef());
  dims.reset(1);
  reduce::reduce("SUM", grad, dims, opencl::compute_dtype(bias.scalar_type()), bias);
}

}  // namespace
}  // namespace kernels::convolve

void kernels::convolution(const at::Tensor& input, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                          at::IntArrayRef padding, at::IntArrayRef dilation,
                          bool transposed, at::IntArrayRef output_padding,
                          int64_t groups, at::Tensor& output) {
  if (!product::has_product(output.scalar_type())) {
    count_fallback("aten::convolution_overrideable");
    output.copy_(at::convolution(
        input.cpu(), weight.cpu(), is_given(bias) ? bias->cpu() : at::Tensor(), stride,
        padding, dilation, transposed, output_padding, groups));
    return;
  }
  const convolve::Geometry g{stride, padding, dilation, groups};
  const auto run = transposed ? convolve::spread : convolve::correlate;
  run(output, input.contiguous(), weight.contiguous(),
      is_given(bias) ? bias->contiguous() : at::Tensor(), g);
}

void kernels::convolution_backward(const at::Tensor& grad_output,
                                   const at::Tensor& input, const at::Tensor& weight,
                                   int64_t channels, at::IntArrayRef stride,
                                   at::IntArrayRef padding, at::IntArrayRef dilation,
                                   bool transposed, at::IntArrayRef output_padding,
                                   int64_t groups, std::array<at::Tensor, 3>& grads) {
  if (!product::has_product(input.scalar_type())) {
    count_fallback("aten::convolution_backward_overrideable");
    const std::array<bool, 3> mask{grads[0].defined(), grads[1].defined(),
                                   grads[2].defined()};
    const auto [of_input, of_weight, of_bias] = at::convolution_backward(
        grad_output.cpu(), input.cpu(), weight.cpu(), at::IntArrayRef(channels), stride,
        padding, dilation, transposed, output_padding, groups, mask);
    const std::array<at::Tensor, 3> results{of_input, of_weight, of_bias};
    for (const size_t i : {0, 1, 2}) {
      if (mask[i]) {
        grads[i].copy_(results[i]);
      }
    }
    return;
  }
  const convolve::Geometry g{stride, padding, dilation, groups};
  const at::Tensor grad = grad_output.contiguous(), x = input.contiguous();
  if (grads[0].defined()) {
    const auto run = transposed ? convolve::correlate : convolve::spread;
    run(grads[0], grad, weight.contiguous(), {}, g);
  }
  if (grads[1].defined()) {
    convolve::differentiate_weight(grads[1], transposed ? x : grad,
                                   transposed ? grad : x, g);
  }
  if (grads[2].defined()) {
    convolve::sum_to_bias(grad, grads[2]);
  }
}

}  // namespace ocl
