// Derivatives of activations and losses; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/elu_backward_meta.h>
#include <ATen/ops/hardshrink_backward_meta.h>
#include <ATen/ops/hardsigmoid_backward_meta.h>
#include <ATen/ops/leaky_relu_backward_meta.h>
#include <ATen/ops/logit_backward_meta.h>
#include <ATen/ops/sigmoid_backward_meta.h>
#include <ATen/ops/silu_backward_meta.h>
#include <ATen/ops/softplus_backward_meta.h>
#include <ATen/ops/softshrink_backward_meta.h>
#include <ATen/ops/tanh_backward_meta.h>
#include <ATen/ops/threshold_backward_meta.h>

#include "csrc/aten/meta/Activation.h"
#include "csrc/aten/structured/Pointwise.h"
#include "csrc/kernels/opencl/Pointwise.h"

namespace ocl::opencl::activation_backward {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

bool gelu(at::TensorIteratorBase& iterator, std::string_view approximate) {
  return pointwise(iterator, approximate == "tanh" ? Formula{"a * tanh_gelu_slope(b)"}
                                                   : Formula{"a * gelu_slope(b)"});
}

bool elu(at::TensorIteratorBase& iterator, const at::Scalar& alpha,
         const at::Scalar& scale, const at::Scalar& input_scale, bool is_result) {
  const char* formula = is_result ? "b <= 0 ? a * r * (b + p) : a * q"
                                  : "b <= 0 ? a * r * p * exp(b * r) : a * q";
  return pointwise(iterator, {formula},
                   {alpha.to<double>() * scale.to<double>(), scale, input_scale});
}

bool logit(at::TensorIteratorBase& iterator, std::optional<double> eps) {
  if (!eps.has_value()) {
    return pointwise(iterator, {"b < 0 || b > 1 ? NAN : a / (b * (1 - b))"});
  }
  return pointwise(iterator, {"b < p || b > 1 - p ? 0 : a / (b * (1 - b))"}, {*eps});
}

// What a mean divides by; the target is the third input.
double norm(const at::TensorIteratorBase& iterator, int64_t reduction) {
  const bool mean = reduction == at::Reduction::Mean;
  return mean ? 1.0 / static_cast<double>(iterator.tensor(2).numel()) : 1;
}

bool mse(at::TensorIteratorBase& iterator, int64_t reduction) {
  return pointwise(iterator, {"p * (b - c) * a"}, {2 * norm(iterator, reduction)});
}

bool smooth_l1(at::TensorIteratorBase& iterator, int64_t reduction, double beta) {
  return pointwise(iterator,
                   {"b - c <= -q ? -p * a : b - c >= q ? p * a : p * (b - c) * a / q"},
                   {norm(iterator, reduction), beta});
}

bool huber(at::TensorIteratorBase& iterator, int64_t reduction, double delta) {
  return pointwise(
      iterator, {"b - c <= -q ? -p * a * q : b - c >= q ? p * a * q : p * (b - c) * a"},
      {norm(iterator, reduction), delta});
}

bool binary_cross_entropy(at::TensorIteratorBase& iterator, int64_t reduction) {
  const char* formula =
      iterator.ninputs() == 4
          ? "p * d * a * (b - c) / at_least((1 - b) * b, (Value)1e-12)"
          : "p * a * (b - c) / at_least((1 - b) * b, (Value)1e-12)";
  return pointwise(iterator, {formula}, {norm(iterator, reduction)});
}

}  // namespace

// Where it matters, the order of the inputs is that of the iterator.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::elu_backward, op::elu_backward_grad_input,
                          meta::structured_elu_backward>(m, elu);
  structured_or_fall_back<op::gelu_backward, op::gelu_backward_grad_input,
                          GeluBackward>(m, gelu);
  structured_or_fall_back<op::hardshrink_backward, op::hardshrink_backward_grad_input,
                          meta::structured_hardshrink_backward>(
      m, ComputesWithNumbers("b >= -p && b <= p ? 0 : a"));
  structured_or_fall_back<op::softshrink_backward, op::softshrink_backward_grad_input,
                          meta::structured_softshrink_backward>(
      m, ComputesWithNumbers("b >= -p && b <= p ? 0 : a"));
  structured_or_fall_back<op::hardsigmoid_backward, op::hardsigmoid_backward_grad_input,
                          meta::structured_hardsigmoid_backward>(
      m, Computes("b > -3 && b < 3 ? a / 6 : 0"));
  structured_or_fall_back<op::leaky_relu_backward, op::leaky_relu_backward_grad_input,
                          meta::structured_leaky_relu_backward>(
      m, ComputesWithNumbers("a > 0 ? b : b * p"));
  structured_or_fall_back<op::logit_backward, op::logit_backward_grad_input,
                          meta::structured_logit_backward>(m, logit);
  structured_or_fall_back<op::sigmoid_backward, op::sigmoid_backward_grad_input,
                          meta::structured_sigmoid_backward>(
      m, Computes("a * (1 - b) * b"));
  structured_or_fall_back<op::silu_backward, op::silu_backward_grad_input,
                          meta::structured_silu_backward>(
      m, Computes("a * silu_slope(b)"));
  structured_or_fall_back<op::softplus_backward, op::softplus_backward_grad_input,
                          meta::structured_softplus_backward>(
      m, ComputesWithNumbers("b * p > q ? a : a * sigmoid(b * p)"));
  structured_or_fall_back<op::tanh_backward, op::tanh_backward_grad_input,
                          meta::structured_tanh_backward>(m,
                                                          Computes("a * (1 - b * b)"));
  structured_or_fall_back<op::threshold_backward, op::threshold_backward_grad_input,
                          meta::structured_threshold_backward>(
      m, ComputesWithNumbers("a <= p ? 0 : b"));
  structured_or_fall_back<op::hardtanh_backward, op::hardtanh_backward_grad_input,
                          ocl::Pointwise>(
      m, ComputesWithNumbers("b <= p || b >= q ? 0 : a"));
  structured_or_fall_back<op::log_sigmoid_backward, op::log_sigmoid_backward_grad_input,
                          ocl::Pointwise>(m, Computes("a * log_sigmoid_slope(b)"));
  structured_or_fall_back<op::mse_loss_backward, op::mse_loss_backward_grad_input,
                          ocl::Pointwise>(m, mse);
  structured_or_fall_back<op::smooth_l1_loss_backward,
                          op::smooth_l1_loss_backward_grad_input, ocl::Pointwise>(
      m, smooth_l1);
  structured_or_fall_back<op::huber_loss_backward, op::huber_loss_backward_out,
                          HuberBackward>(m, huber);
  structured_or_fall_back<op::binary_cross_entropy_backward,
                          op::binary_cross_entropy_backward_grad_input, ocl::Pointwise>(
      m, binary_cross_entropy);
}

}  // namespace ocl::opencl::activation_backward
