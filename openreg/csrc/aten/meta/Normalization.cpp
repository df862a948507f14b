// Meta functions of layer, group and batch normalization; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Normalization.h"

#include <ATen/native/cpu/mixed_data_type.h>
#include <ATen/native/layer_norm.h>

#include <algorithm>
#include <string_view>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

// The statistics of a layer that computes in a reduced dtype may be float32. Throws if
// the dtypes of input and parameters do not go together.
template <class... Parameters>
at::TensorOptions statistics(const at::Tensor& input, const Parameters&... parameters) {
  const bool mixed = at::native::is_mixed_type(input, or_undefined(parameters)...);
  if (mixed) {
    at::native::check_mixed_data_type(input, or_undefined(parameters)...);
  }
  return input.options().dtype(at::native::param_scalar_type(input, mixed));
}

void check_gradient(const char* name, const at::Tensor& grad_out,
                    const at::Tensor& input) {
  TORCH_CHECK(grad_out.scalar_type() == input.scalar_type() &&
                  grad_out.sizes() == input.sizes(),
              "openreg: ", name, ": expected a gradient as the input, of dtype ",
              input.scalar_type(), " and shape ", input.sizes(),
              ", but got one of dtype ", grad_out.scalar_type(), " and shape ",
              grad_out.sizes());
}

// Throws unless a parameter of batch normalization has a number of dtype `expected` for
// each channel.
void check_parameter(const char* name, const OptionalTensor& tensor,
                     const at::Tensor& input, at::ScalarType expected) {
  if (!is_given(tensor)) {
    return;
  }
  TORCH_CHECK(tensor->numel() == input.size(1), name, " should contain ", input.size(1),
              " elements not ", tensor->numel());
  const bool statistic = std::string_view(name).starts_with("running");
  TORCH_CHECK(tensor->dim() == 1 || !statistic,
              "TensorAccessor expected 1 dims but tensor has ", tensor->dim());
  TORCH_CHECK(tensor->scalar_type() == expected, "expected scalar type ", expected,
              " but found ", tensor->scalar_type());
}

}  // namespace

// Makes the gradients of input, weight and bias that `mask` requests.
void NormalizationBackward::gradients(const at::Tensor& input, at::MemoryFormat format,
                                      const OptionalTensor& weight,
                                      at::IntArrayRef weight_sizes,
                                      std::array<bool, 3> mask) {
  const at::Tensor& parameter = is_given(weight) ? *weight : input;
  if (mask[0]) {
    output(0, input.sizes(), input.options(), format);
  }
  for (const int64_t index : {1, 2}) {
    if (mask[index]) {
      output(index, weight_sizes, parameter.options());
    }
  }
}

void LayerNorm::meta(const at::Tensor& input, at::IntArrayRef normalized_shape,
                     const OptionalTensor& weight, const OptionalTensor& bias, double) {
  at::native::_check_layer_norm_inputs(input, normalized_shape, or_undefined(weight),
                                       or_undefined(bias));
  c10::DimVector sizes(input.sizes());
  std::fill(sizes.end() - normalized_shape.size(), sizes.end(), 1);
  const auto options = statistics(input, weight, bias);
  output(0, input.sizes(), input.options());
  output(1, sizes, options);
  output(2, sizes, options);
}

void LayerNormBackward::meta(const at::Tensor& grad_out, const at::Tensor& input,
                             at::IntArrayRef normalized_shape, const at::Tensor& mean,
                             const at::Tensor&, const OptionalTensor& weight,
                             const OptionalTensor& bias, std::array<bool, 3> mask) {
  check_gradient("native_layer_norm_backward", grad_out, input);
  TORCH_CHECK(is_given(weight) || mean.scalar_type() == input.scalar_type(),
              "expected scalar type ", input.scalar_type(), " but found ",
              mean.scalar_type());
  at::native::_check_layer_norm_inputs(input, normalized_shape, or_undefined(weight),
                                       or_undefined(bias));
  gradients(input, at::MemoryFormat::Contiguous, weight, normalized_shape, mask);
}

void GroupNorm::meta(const at::Tensor& input, const OptionalTensor& weight,
                     const OptionalTensor& bias, int64_t N, int64_t C, int64_t HxW,
                     int64_t group, double) {
  const auto check_channels = [&](const char* name, const OptionalTensor& tensor) {
    TORCH_CHECK(!is_given(tensor) || (tensor->dim() == 1 && tensor->numel() == C),
                "Expected ", name, " to be a vector of size equal to the number of ",
                "channels in input, but got ", name, " of shape ", tensor->sizes(),
                " and input of shape ", input.sizes());
  };
  TORCH_CHECK(group > 0 && C % group == 0,
              "Expected number of channels in input to be ",
              "divisible by num_groups, but got input of shape ", input.sizes(),
              " and num_groups=", group);
  TORCH_CHECK(input.numel() == N * C * HxW, "Expected an input of ", N * C * HxW,
              " elements, but got ", input.sizes());
  check_channels("weight", weight);
  check_channels("bias", bias);
  const auto options = statistics(input, weight, bias);
  const at::ScalarType expected = c10::typeMetaToScalarType(options.dtype());
  for (const OptionalTensor* parameter : {&weight, &bias}) {
    TORCH_CHECK(!is_given(*parameter) || (*parameter)->scalar_type() == expected,
                "expected scalar type ", expected, " but found ",
                (*parameter)->scalar_type());
  }
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(input.scalar_type()),
                              "\"group_norm\" not implemented for '",
                              input.scalar_type(), "'");
  output(0, input.sizes(), input.options(), input.suggest_memory_format());
  output(1, {N, group}, options);
  output(2, {N, group}, options);
}

void GroupNormBackward::meta(const at::Tensor& grad_out, const at::Tensor& input,
                             const at::Tensor&, const at::Tensor&,
                             const OptionalTensor& weight, int64_t N, int64_t C,
                             int64_t HxW, int64_t, std::array<bool, 3> mask) {
  check_gradient("native_group_norm_backward", grad_out, input);
  TORCH_CHECK(input.numel() == N * C * HxW,
              "openreg: native_group_norm_backward: expected an input of ", N, " x ", C,
              " x ", HxW, " elements, but got ", input.sizes());
  gradients(input, input.suggest_memory_format(), weight, {C}, mask);
}

void BatchNorm::meta(const at::Tensor& input, const OptionalTensor& weight,
                     const OptionalTensor& bias, const OptionalTensor& running_mean,
                     const OptionalTensor& running_var, bool training, double, double) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype),
                              "\"batch_norm\" not implemented for '", dtype, "'");
  TORCH_CHECK(input.dim() >= 2,
              "openreg: batch_norm: expected an input of at least 2 "
              "dimensions, but got ",
              input.sizes());
  const auto options = statistics(input, weight, bias, running_mean, running_var);
  const at::ScalarType expected = c10::typeMetaToScalarType(options.dtype());
  check_parameter("running_mean", running_mean, input, expected);
  check_parameter("running_var", running_var, input, expected);
  check_parameter("weight", weight, input, expected);
  check_parameter("bias", bias, input, expected);
  TORCH_CHECK(
      training || (is_given(running_mean) && is_given(running_var)),
      "openreg: batch_norm needs running_mean and running_var, or training=True");
  TORCH_CHECK(!training || input.numel() > 0, "input tensor must have at least one ",
              "element, but got input_sizes = ", input.sizes());
  const std::array<int64_t, 1> sizes{training ? input.size(1) : 0};
  output(0, input.sizes(), input.options(), input.suggest_memory_format());
  output(1, sizes, options);
  output(2, sizes, options);
}

void BatchNormBackward::meta(const at::Tensor& grad_out, const at::Tensor& input,
                             const OptionalTensor& weight, const OptionalTensor&,
                             const OptionalTensor&, const OptionalTensor&,
                             const OptionalTensor&, bool, double,
                             std::array<bool, 3> mask) {
  check_gradient("native_batch_norm_backward", grad_out, input);
  gradients(input, input.suggest_memory_format(), weight, {input.size(1)}, mask);
}

}  // namespace openreg
