// Layer normalization; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/native/layer_norm.h>

#include "csrc/aten/meta/Normalization.h"
#include "csrc/kernels/NormLaunch.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::kernels::norm {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Shape shape_of(const Tensor& input, at::IntArrayRef normalized_shape,
               const OptionalTensor& weight, const OptionalTensor& bias) {
  const auto [rows, length] = at::native::_check_layer_norm_inputs(
      input, normalized_shape, or_undefined(weight), or_undefined(bias));
  return layer_shape(rows, length);
}

bool layer_norm(const Tensor& input, at::IntArrayRef normalized_shape,
                const OptionalTensor& weight, const OptionalTensor& bias, double eps,
                const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  return normalize(Kind::Layer, shape_of(input, normalized_shape, weight, bias), input,
                   or_undefined(weight), or_undefined(bias), {{}, {}, false, 0}, eps,
                   out, mean, rstd);
}

bool layer_norm_backward(const Tensor& grad, const Tensor& input,
                         at::IntArrayRef normalized_shape, const Tensor& mean,
                         const Tensor& rstd, const OptionalTensor& weight,
                         const OptionalTensor& bias, std::array<bool, 3>,
                         const Tensor& of_input, const Tensor& of_weight,
                         const Tensor& of_bias) {
  return differentiate(Kind::Layer, shape_of(input, normalized_shape, weight, bias),
                       grad, input, mean, rstd, or_undefined(weight), /*given=*/false,
                       0, {of_input, of_weight, of_bias});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  opencl::structured_or_fall_back<op::native_layer_norm, op::native_layer_norm_out,
                                  LayerNorm>(m, layer_norm);
  opencl::structured_or_fall_back_without_out<op::native_layer_norm_backward,
                                              LayerNormBackward>(m,
                                                                 layer_norm_backward);
}

}  // namespace ocl::kernels::norm
