// The host half of convolutions; see docs/operators/composite.md.
#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <optional>
#include <tuple>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/kernels/Convolution.h"

namespace openreg {
namespace {

struct Geometry {
  at::IntArrayRef stride, padding, dilation;
  bool transposed;
  at::IntArrayRef output_padding;
  int64_t groups;
};

void check_lengths(const Geometry& geometry, int64_t dims) {
  const auto check = [dims](const char* what, at::IntArrayRef values, int64_t least) {
    TORCH_CHECK(static_cast<int64_t>(values.size()) == dims,
                "openreg: convolution: expected ", dims, " values of ", what,
                ", but got ", values);
    for (const int64_t value : values) {
      TORCH_CHECK(value >= least, "openreg: convolution: ", what, " must be at least ",
                  least, ", but got ", values);
    }
  };
  check("stride", geometry.stride, 1);
  check("padding", geometry.padding, 0);
  check("dilation", geometry.dilation, 1);
  check("output_padding", geometry.output_padding, 0);
  TORCH_CHECK(geometry.groups > 0,
              "openreg: convolution: groups must be at least 1, but got ",
              geometry.groups);
}

void check_input_channels(const at::Tensor& input, const at::Tensor& weight,
                          const Geometry& geometry) {
  const int64_t groups = geometry.groups;
  TORCH_CHECK(weight.size(0) > 0 && weight.size(0) % groups == 0,
              "Given groups=", groups, ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  const int64_t channels =
      geometry.transposed ? weight.size(0) : weight.size(1) * groups;
  TORCH_CHECK(input.size(1) == channels, "Given groups=", groups, ", weight of size ",
              weight.sizes(), ", expected input", input.sizes(), " to have ", channels,
              " channels, but got ", input.size(1), " channels instead");
  TORCH_CHECK(
      input.numel() > 0 && weight.numel() > 0,
      "openreg: convolution: input and weight must not be empty, but their sizes are ",
      input.sizes(), " and ", weight.sizes());
}

// LITERALINCLUDE START: CONVOLUTION_SIZES
// Checks all that the kernel relies on, and returns the sizes of the output. conv2d and
// similar functions have checked most of it, but the operator can also be called
// directly, and torch leaves some checks to its kernels.
std::vector<int64_t> output_sizes(const at::Tensor& input, const at::Tensor& weight,
                                  const Geometry& g) {
  const int64_t dims = input.dim() - 2;
  TORCH_CHECK(dims >= 1 && dims <= 3 && weight.dim() == input.dim(),
              "openreg: convolution: expected an input and a weight with the same "
              "number of dimensions, 3 to 5, but got ",
              input.sizes(), " and ", weight.sizes());
  check_lengths(g, dims);
  check_input_channels(input, weight, g);
  const std::vector<int64_t> sizes =
      g.transposed ? at::native::conv_input_size(input.sizes(), weight.sizes(),
                                                 g.padding, g.output_padding, g.stride,
                                                 g.dilation, g.groups)
                   : at::native::conv_output_size(input.sizes(), weight.sizes(),
                                                  g.padding, g.stride, g.dilation);
  // LITERALINCLUDE END: CONVOLUTION_SIZES
  // LITERALINCLUDE START: CONVOLUTION_OUTPUT
  for (const auto i : c10::irange(dims)) {
    TORCH_CHECK(sizes[i + 2] > 0, "Given input of size ", input.sizes(),
                ", calculated output of size ", at::IntArrayRef(sizes),
                ". Output size is too small");
    const int64_t limit = std::max(g.stride[i], g.dilation[i]);
    TORCH_CHECK(!g.transposed || g.output_padding[i] < limit,
                "output padding must be smaller than either stride or dilation, but "
                "got output_padding ",
                g.output_padding, ", stride ", g.stride, ", dilation ", g.dilation);
  }
  return sizes;
}
// LITERALINCLUDE END: CONVOLUTION_OUTPUT

// VENDOR: the dtypes of your convolution; below, the memory formats that it prefers
// The dtypes of the CPU kernels, which this device uses.
bool has_kernel(at::ScalarType dtype, const Geometry& geometry) {
  const bool plain = !geometry.transposed &&
                     std::all_of(geometry.dilation.begin(), geometry.dilation.end(),
                                 [](int64_t dilation) { return dilation == 1; });
  return is_common_floating(dtype) || dtype == at::kLong ||
         (plain && at::isIntegralType(dtype, /*includeBool=*/false) &&
          !at::isBarebonesUnsignedType(dtype));
}

void check_dtypes(const at::Tensor& input, const at::Tensor& weight,
                  const at::Tensor& other, const char* other_name, bool supported) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK(weight.scalar_type() == dtype, "Input type (", dtype,
              ") and weight type (", weight.scalar_type(), ") should be the same");
  TORCH_CHECK(!other.defined() || other.scalar_type() == dtype, "Input type (", dtype,
              ") and ", other_name, " type (", other.scalar_type(),
              ") should be the same");
  TORCH_CHECK_NOT_IMPLEMENTED(
      supported, "openreg: convolution is not implemented for '", dtype, "'");
}

// LITERALINCLUDE START: CONVOLUTION
// All torch convolutions call this: 1 to 3 dimensions, transposed or not. A convolution
// with one dimension arrives as an image of height 1.
at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias,
                                    at::IntArrayRef stride, at::IntArrayRef padding,
                                    at::IntArrayRef dilation, bool transposed,
                                    at::IntArrayRef output_padding, int64_t groups) {
  const Geometry g{stride, padding, dilation, transposed, output_padding, groups};
  check_same_device("convolution_overrideable", input, weight, bias);  // (1)
  const auto sizes = output_sizes(input, weight, g);
  const at::Tensor given_bias = or_undefined(bias);
  check_dtypes(input, weight, given_bias, "bias", has_kernel(input.scalar_type(), g));
  TORCH_CHECK(!given_bias.defined() || given_bias.sizes() == at::IntArrayRef(sizes[1]),
              "Given weight of size ", weight.sizes(),
              ", expected bias to be 1-dimensional with ", sizes[1],
              " elements, but got bias of size ", given_bias.sizes(), " instead");
  at::Tensor output = at::empty(sizes, input.options());  // (2)
  kernels::convolution(input, weight, bias, stride, padding, dilation, transposed,
                       output_padding, groups, output);  // (3)
  return output;
}
// LITERALINCLUDE END: CONVOLUTION

// The gradients of input, weight and bias; undefined where `output_mask` is false.
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_overrideable(
    const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups,
    std::array<bool, 3> output_mask) {
  const Geometry g{stride, padding, dilation, transposed, output_padding, groups};
  check_same_device("convolution_backward_overrideable", grad_output, input, weight);
  const auto sizes = output_sizes(input, weight, g);
  const at::ScalarType dtype = input.scalar_type();
  check_dtypes(input, weight, grad_output, "grad_output",
               at::isFloatingType(dtype) && has_kernel(dtype, g));
  TORCH_CHECK(grad_output.sizes() == at::IntArrayRef(sizes),
              "openreg: convolution_backward: expected grad_output of size ",
              at::IntArrayRef(sizes), ", but got ", grad_output.sizes());
  std::array<at::Tensor, 3> grads;
  if (output_mask[0]) {
    grads[0] = at::empty(input.sizes(), input.options());
  }
  if (output_mask[1]) {
    grads[1] = at::empty(weight.sizes(), weight.options());
  }
  if (output_mask[2]) {
    grads[2] = at::empty({sizes[1]}, weight.options());
  }
  if (!output_mask[0] && !output_mask[1] && !output_mask[2]) {
    return {};
  }
  kernels::convolution_backward(grad_output, input, weight, sizes[1], stride, padding,
                                dilation, transposed, output_padding, groups, grads);
  return {grads[0], grads[1], grads[2]};
}

// LITERALINCLUDE START: REGISTER_CONVOLUTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution_overrideable);
  m.impl("convolution_backward_overrideable", convolution_backward_overrideable);
}
// LITERALINCLUDE END: REGISTER_CONVOLUTION

}  // namespace
}  // namespace openreg
