// Layer, group and batch normalization; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/native/Resize.h>
#include <ATen/native/cpu/mixed_data_type.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_group_norm.h>
#include <ATen/ops/native_layer_norm.h>

#include <string_view>

#include "csrc/aten/kernels/Normalization.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

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

// The gradients that `mask` requests; the others stay undefined.
ThreeTensors gradients(const at::Tensor& input, at::TensorOptions weight_options,
                       at::IntArrayRef weight_sizes, at::MemoryFormat format,
                       std::array<bool, 3> mask) {
  const auto parameter = [&](bool wanted) {
    return wanted ? at::empty(weight_sizes, weight_options) : at::Tensor();
  };
  return {mask[0] ? at::empty_like(input, input.options(), format) : at::Tensor(),
          parameter(mask[1]), parameter(mask[2])};
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

// Throws unless each of `parameters` has a number of dtype `expected` for each channel.
template <class... Parameters>
void check_batch_norm(const at::Tensor& input, at::ScalarType expected,
                      const Parameters&... parameters) {
  TORCH_CHECK(input.dim() >= 2,
              "openreg: batch_norm: expected an input of at least 2 "
              "dimensions, but got ",
              input.sizes());
  const auto check = [&](const char* name, const std::optional<at::Tensor>& tensor) {
    if (!is_given(tensor)) {
      return;
    }
    TORCH_CHECK(tensor->numel() == input.size(1), name, " should contain ",
                input.size(1), " elements not ", tensor->numel());
    const bool statistic = std::string_view(name).starts_with("running");
    TORCH_CHECK(tensor->dim() == 1 || !statistic,
                "TensorAccessor expected 1 dims but tensor has ", tensor->dim());
    TORCH_CHECK(tensor->scalar_type() == expected, "expected scalar type ", expected,
                " but found ", tensor->scalar_type());
  };
  (check(parameters.first, parameters.second), ...);
}

using CapturedOutputs = std::array<std::optional<KernelTensorArg>, 3>;

CapturedOutputs capture_outputs(const ThreeTensors& grads) {
  return {capture(std::get<0>(grads)), capture(std::get<1>(grads)),
          capture(std::get<2>(grads))};
}

// Inside a kernel; an output that was not requested is undefined.
std::array<at::Tensor, 3> alias_outputs(const CapturedOutputs& outputs) {
  return {alias(outputs[0]), alias(outputs[1]), alias(outputs[2])};
}

}  // namespace

ThreeTensors native_layer_norm(const at::Tensor& input,
                               at::IntArrayRef normalized_shape,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, double eps) {
  check_same_device("native_layer_norm", input, weight, bias);
  at::native::_check_layer_norm_inputs(input, normalized_shape, or_undefined(weight),
                                       or_undefined(bias));
  c10::DimVector sizes(input.sizes());
  std::fill(sizes.end() - normalized_shape.size(), sizes.end(), 1);
  const auto options = statistics(input, weight, bias);
  const ThreeTensors outputs{
      at::empty_like(input, input.options(), at::MemoryFormat::Contiguous),
      at::empty(sizes, options), at::empty(sizes, options)};
  const auto& [out, mean, rstd] = outputs;
  launch_out("native_layer_norm", at::native_layer_norm_outf,
             std::array{out, mean, rstd}, input, normalized_shape, weight, bias, eps);
  return outputs;
}

ThreeTensors native_layer_norm_backward(const at::Tensor& grad_out,
                                        const at::Tensor& input,
                                        at::IntArrayRef normalized_shape,
                                        const at::Tensor& mean, const at::Tensor& rstd,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& bias,
                                        std::array<bool, 3> output_mask) {
  check_same_device("native_layer_norm_backward", grad_out, input, mean, rstd, weight);
  check_gradient("native_layer_norm_backward", grad_out, input);
  TORCH_CHECK(is_given(weight) || mean.scalar_type() == input.scalar_type(),
              "expected scalar type ", input.scalar_type(), " but found ",
              mean.scalar_type());
  at::native::_check_layer_norm_inputs(input, normalized_shape, or_undefined(weight),
                                       or_undefined(bias));
  const at::Tensor& parameter = is_given(weight) ? *weight : input;
  const ThreeTensors grads = gradients(input, parameter.options(), normalized_shape,
                                       at::MemoryFormat::Contiguous, output_mask);
  launch("native_layer_norm_backward", input.device(),
         [outputs = capture_outputs(grads), go = KernelTensorArg::input(grad_out),
          in = KernelTensorArg::input(input), shape = normalized_shape.vec(),
          m = KernelTensorArg::input(mean), r = KernelTensorArg::input(rstd),
          w = capture_input(weight), b = capture_input(bias)] {
           kernels::layer_norm_backward(go.alias(), in.alias(), shape, m.alias(),
                                        r.alias(), if_given(w), if_given(b),
                                        alias_outputs(outputs));
         });
  return grads;
}

ThreeTensors native_group_norm(const at::Tensor& input,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, int64_t N,
                               int64_t C, int64_t HxW, int64_t group, double eps) {
  check_same_device("native_group_norm", input, weight, bias);
  const auto check_parameter = [&](const char* name,
                                   const std::optional<at::Tensor>& tensor) {
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
  check_parameter("weight", weight);
  check_parameter("bias", bias);
  const at::MemoryFormat format = input.suggest_memory_format();
  const at::Tensor x = input.contiguous(format);  // the kernel of torch 2.13 takes this
  const auto options = statistics(input, weight, bias);
  const ThreeTensors outputs{at::empty_like(x, x.options(), format),
                             at::empty({N, group}, options),
                             at::empty({N, group}, options)};
  const auto& [out, mean, rstd] = outputs;
  launch_out("native_group_norm", at::native_group_norm_outf,
             std::array{out, mean, rstd}, x, weight, bias, N, C, HxW, group, eps);
  return outputs;
}

ThreeTensors native_group_norm_backward(
    const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& rstd, const std::optional<at::Tensor>& weight, int64_t N,
    int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> output_mask) {
  check_same_device("native_group_norm_backward", grad_out, input, mean, rstd, weight);
  check_gradient("native_group_norm_backward", grad_out, input);
  TORCH_CHECK(input.numel() == N * C * HxW,
              "openreg: native_group_norm_backward: expected an input of ", N, " x ", C,
              " x ", HxW, " elements, but got ", input.sizes());
  const at::Tensor& parameter = is_given(weight) ? *weight : input;
  const ThreeTensors grads = gradients(input, parameter.options(), {C},
                                       input.suggest_memory_format(), output_mask);
  launch(
      "native_group_norm_backward", input.device(),
      [outputs = capture_outputs(grads), go = KernelTensorArg::input(grad_out),
       in = KernelTensorArg::input(input), m = KernelTensorArg::input(mean),
       r = KernelTensorArg::input(rstd), w = capture_input(weight), N, C, HxW, group] {
        kernels::group_norm_backward(go.alias(), in.alias(), m.alias(), r.alias(),
                                     if_given(w), N, C, HxW, group,
                                     alias_outputs(outputs));
      });
  return grads;
}

ThreeTensors native_batch_norm(const at::Tensor& input,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias,
                               const std::optional<at::Tensor>& running_mean,
                               const std::optional<at::Tensor>& running_var,
                               bool training, double momentum, double eps) {
  check_same_device("native_batch_norm", input, weight, bias, running_mean,
                    running_var);
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype),
                              "\"batch_norm\" not implemented for '", dtype, "'");
  const auto options = statistics(input, weight, bias, running_mean, running_var);
  check_batch_norm(input, c10::typeMetaToScalarType(options.dtype()),
                   std::pair{"running_mean", running_mean},
                   std::pair{"running_var", running_var}, std::pair{"weight", weight},
                   std::pair{"bias", bias});
  TORCH_CHECK(training || (is_given(running_mean) && is_given(running_var)),
              "openreg: batch_norm: evaluation needs running_mean and running_var");
  TORCH_CHECK(!training || input.numel() > 0, "input tensor must have at least one ",
              "element, but got input_sizes = ", input.sizes());
  // LITERALINCLUDE START: BATCH_NORM
  const int64_t channels = input.size(1);
  const c10::DimVector sizes{training ? channels : 0};
  ThreeTensors outputs{
      at::empty_like(input, input.options(), input.suggest_memory_format()),
      at::empty(sizes, options), at::empty(sizes, options)};
  // Training writes to the running statistics, which the schema hides.
  const auto running = [training](const std::optional<at::Tensor>& statistic) {
    return training ? capture(statistic) : capture_input(statistic);
  };
  launch("native_batch_norm", input.device(),
         [results = capture_outputs(outputs), rm = running(running_mean),
          rv = running(running_var), in = KernelTensorArg::input(input),
          w = capture_input(weight), b = capture_input(bias), training, momentum, eps] {
           kernels::batch_norm(in.alias(), if_given(w), if_given(b), if_given(rm),
                               if_given(rv), training, momentum, eps,
                               alias_outputs(results));
         });
  return outputs;
  // LITERALINCLUDE END: BATCH_NORM
}

ThreeTensors native_batch_norm_legit(const at::Tensor& input,
                                     const std::optional<at::Tensor>& weight,
                                     const std::optional<at::Tensor>& bias,
                                     at::Tensor& running_mean, at::Tensor& running_var,
                                     bool training, double momentum, double eps) {
  return openreg::native_batch_norm(input, weight, bias, running_mean, running_var,
                                    training, momentum, eps);
}

ThreeTensors native_batch_norm_no_stats(const at::Tensor& input,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& bias,
                                        bool training, double momentum, double eps) {
  return openreg::native_batch_norm(input, weight, bias, {}, {}, training, momentum,
                                    eps);
}

std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> native_batch_norm_out(
    const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, bool training, double momentum,
    double eps, at::Tensor& out, at::Tensor& save_mean, at::Tensor& save_invstd) {
  const ThreeTensors results = openreg::native_batch_norm(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  const auto give = [](const at::Tensor& value, at::Tensor& to) {
    at::native::resize_output(to, value.sizes());
    to.copy_(value);
  };
  give(std::get<0>(results), out);
  give(std::get<1>(results), save_mean);
  give(std::get<2>(results), save_invstd);
  return {out, save_mean, save_invstd};
}

ThreeTensors native_batch_norm_backward(const at::Tensor& grad_out,
                                        const at::Tensor& input,
                                        const std::optional<at::Tensor>& weight,
                                        const std::optional<at::Tensor>& running_mean,
                                        const std::optional<at::Tensor>& running_var,
                                        const std::optional<at::Tensor>& save_mean,
                                        const std::optional<at::Tensor>& save_invstd,
                                        bool train, double eps,
                                        std::array<bool, 3> output_mask) {
  check_same_device("native_batch_norm_backward", grad_out, input, weight, running_mean,
                    running_var, save_mean, save_invstd);
  check_gradient("native_batch_norm_backward", grad_out, input);
  const at::Tensor& parameter = is_given(weight) ? *weight : input;
  const ThreeTensors grads = gradients(input, parameter.options(), {input.size(1)},
                                       input.suggest_memory_format(), output_mask);
  launch("native_batch_norm_backward", input.device(),
         [outputs = capture_outputs(grads), go = KernelTensorArg::input(grad_out),
          in = KernelTensorArg::input(input), w = capture_input(weight),
          rm = capture_input(running_mean), rv = capture_input(running_var),
          sm = capture_input(save_mean), si = capture_input(save_invstd), train, eps] {
           kernels::batch_norm_backward(
               go.alias(), in.alias(), if_given(w), if_given(rm), if_given(rv),
               if_given(sm), if_given(si), train, eps, alias_outputs(outputs));
         });
  return grads;
}

}  // namespace openreg
