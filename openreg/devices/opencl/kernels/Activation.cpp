// Activation functions; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/elu_meta.h>
#include <ATen/ops/glu_meta.h>
#include <ATen/ops/hardshrink_meta.h>
#include <ATen/ops/hardsigmoid_meta.h>
#include <ATen/ops/leaky_relu_meta.h>
#include <ATen/ops/log_sigmoid_forward.h>
#include <ATen/ops/mish_meta.h>
#include <ATen/ops/silu_meta.h>
#include <ATen/ops/softplus_meta.h>
#include <ATen/ops/softshrink_meta.h>
#include <ATen/ops/threshold_meta.h>

#include <limits>

#include "csrc/aten/meta/Activation.h"
#include "csrc/aten/meta/GatedActivation.h"
#include "csrc/aten/structured/Pointwise.h"
#include "csrc/kernels/opencl/Pointwise.h"

namespace ocl::opencl::activation {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

struct NanToNum : ocl::Pointwise {
  template <class... Args>
  void meta(const at::Tensor& self, const Args&...) {
    const at::Tensor& out = maybe_get_output(0);
    TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
                "nan_to_num: dtype of out: ", out.scalar_type(),
                " should be same as input: ", self.scalar_type());
    Pointwise::meta(self);
  }
};

bool gelu(at::TensorIteratorBase& iterator, std::string_view approximate) {
  return pointwise(
      iterator, approximate == "tanh" ? Formula{"tanh_gelu(a)"} : Formula{"gelu(a)"});
}

bool elu(at::TensorIteratorBase& iterator, const at::Scalar& alpha,
         const at::Scalar& scale, const at::Scalar& input_scale) {
  return pointwise(iterator, {"a <= 0 ? expm1(a * r) * p : a * q"},
                   {alpha.to<double>() * scale.to<double>(), scale, input_scale});
}

// The largest number that a dtype has, for infinity.
double largest(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return std::numeric_limits<at::Half>::max();
    case at::kBFloat16:
      return std::numeric_limits<at::BFloat16>::max();
    case at::kFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

bool nan_to_num(at::TensorIteratorBase& iterator, std::optional<double> nan,
                std::optional<double> high, std::optional<double> low) {
  if (!is_floating(iterator.dtype(0))) {
    return pointwise(iterator, {"a"});
  }
  const double most = largest(iterator.dtype(0));
  return pointwise(iterator,
                   {"isnan(a) ? p : a == INFINITY ? q : a == -INFINITY ? r : a"},
                   {nan.value_or(0), high.value_or(most), low.value_or(-most)});
}

// The iterator of the meta function borrows halves that are gone by now.
void glu(const StructuredCall&, const at::Tensor& self, int64_t dim, at::Tensor& out) {
  const int64_t half = self.size(dim) / 2;
  at::TensorIterator iterator = at::TensorIterator::binary_op(
      out, self.narrow(dim, 0, half), self.narrow(dim, half, half));
  if (out.numel() > 0 && !pointwise(iterator, {"a * sigmoid(b)"})) {
    fall_back<op::glu_out>(self, dim, out);
  }
}

// Nothing reads the buffer: the derivative computes again what it would keep.
bool log_sigmoid(const at::Tensor& self, at::Tensor& out, at::Tensor& buffer) {
  at::TensorIterator iterator = at::TensorIterator::unary_op(out, self);
  if (!takes(iterator)) {
    return false;
  }
  buffer.zero_();
  return out.numel() == 0 ||
         pointwise(iterator, {"fmin(a, (Value)0) - log1p(exp(-fabs(a)))"});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::elu, op::elu_out, meta::structured_elu>(m, elu);
  structured_or_fall_back<op::gelu, op::gelu_out, Gelu>(m, gelu);
  structured<op::glu, op::glu_out, meta::structured_glu>(m, glu);
  structured_or_fall_back<op::hardshrink, op::hardshrink_out,
                          meta::structured_hardshrink>(
      m, ComputesWithNumbers("a >= -p && a <= p ? 0 : a"));
  structured_or_fall_back<op::softshrink, op::softshrink_out,
                          meta::structured_softshrink>(
      m, ComputesWithNumbers("a > p ? a - p : a < -p ? a + p : a * 0"));
  structured_or_fall_back<op::hardsigmoid, op::hardsigmoid_out,
                          meta::structured_hardsigmoid>(
      m, Computes("at_most(at_least(a + 3, 0), 6) / 6"));
  structured_or_fall_back<op::leaky_relu, op::leaky_relu_out,
                          meta::structured_leaky_relu>(
      m, ComputesWithNumbers("a > 0 ? a : a * p"));
  structured_or_fall_back<op::mish, op::mish_out, meta::structured_mish>(
      m, Computes("a * tanh(log1p(exp(a)))"));
  structured_or_fall_back<op::silu, op::silu_out, meta::structured_silu>(
      m, Computes("a / (1 + exp(-a))"));
  structured_or_fall_back<op::softplus, op::softplus_out, meta::structured_softplus>(
      m, ComputesWithNumbers("a * p > q ? a : log1p(exp(a * p)) / p"));
  // The iterator has the input twice.
  structured_or_fall_back<op::threshold, op::threshold_out, meta::structured_threshold>(
      m, ComputesWithNumbers("a <= p ? q : b"));
  structured_or_fall_back<op::hardtanh, op::hardtanh_out, ocl::Pointwise>(
      m, ComputesWithNumbers("at_most(at_least(a, p), q)"));
  structured_or_fall_back<op::nan_to_num, op::nan_to_num_out, NanToNum>(m, nan_to_num);
  structured_or_fall_back<op::log_sigmoid_forward, op::log_sigmoid_forward_output,
                          LogSigmoid>(m, log_sigmoid);
  structured_or_fall_back_without_out<op::relu, Relu>(m,
                                                      Computes("a < 0 ? (Value)0 : a"));
  structured_or_fall_back_without_out<op::_prelu_kernel, ocl::Pointwise>(
      m, Computes("a > 0 ? a : b * a"));
}

}  // namespace ocl::opencl::activation
