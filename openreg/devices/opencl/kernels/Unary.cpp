// Element-wise functions of one tensor; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/acos_meta.h>
#include <ATen/ops/acosh_meta.h>
#include <ATen/ops/asin_meta.h>
#include <ATen/ops/asinh_meta.h>
#include <ATen/ops/atan_meta.h>
#include <ATen/ops/atanh_meta.h>
#include <ATen/ops/bitwise_not_meta.h>
#include <ATen/ops/ceil_meta.h>
#include <ATen/ops/clamp_max_meta.h>
#include <ATen/ops/clamp_meta.h>
#include <ATen/ops/clamp_min_meta.h>
#include <ATen/ops/cos_meta.h>
#include <ATen/ops/cosh_meta.h>
#include <ATen/ops/erf_meta.h>
#include <ATen/ops/erfc_meta.h>
#include <ATen/ops/erfinv_meta.h>
#include <ATen/ops/exp2_meta.h>
#include <ATen/ops/exp_meta.h>
#include <ATen/ops/expm1_meta.h>
#include <ATen/ops/floor_meta.h>
#include <ATen/ops/frac_meta.h>
#include <ATen/ops/isneginf_meta.h>
#include <ATen/ops/isposinf_meta.h>
#include <ATen/ops/log10_meta.h>
#include <ATen/ops/log1p_meta.h>
#include <ATen/ops/log2_meta.h>
#include <ATen/ops/log_meta.h>
#include <ATen/ops/neg_meta.h>
#include <ATen/ops/reciprocal_meta.h>
#include <ATen/ops/round_meta.h>
#include <ATen/ops/rsqrt_meta.h>
#include <ATen/ops/sgn_meta.h>
#include <ATen/ops/sigmoid_meta.h>
#include <ATen/ops/sign_meta.h>
#include <ATen/ops/signbit_meta.h>
#include <ATen/ops/sin_meta.h>
#include <ATen/ops/sinh_meta.h>
#include <ATen/ops/sqrt_meta.h>
#include <ATen/ops/tan_meta.h>
#include <ATen/ops/tanh_meta.h>
#include <ATen/ops/trunc_meta.h>

#include "csrc/aten/meta/Power.h"
#include "csrc/kernels/opencl/Pointwise.h"

namespace ocl::opencl::unary {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

bool pow_scalar(at::TensorIteratorBase& iterator, const at::Scalar& exponent) {
  return !exponent.isComplex() &&
         pointwise(iterator, {"pow(a, p)", "power(a, p)"}, {exponent});
}

// A bound that is missing leaves its half of the formula.
bool clamp(at::TensorIteratorBase& iterator, const std::optional<at::Scalar>& low,
           const std::optional<at::Scalar>& high) {
  if (low.has_value() && high.has_value()) {
    return pointwise(iterator, {"at_most(at_least(a, p), q)"}, {*low, *high});
  }
  return low.has_value() ? pointwise(iterator, {"at_least(a, p)"}, {*low})
                         : pointwise(iterator, {"at_most(a, p)"}, {*high});
}

}  // namespace

// LITERALINCLUDE START: UNARY
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::exp, op::exp_out, meta::structured_exp>(
      m, Computes("exp(a)"));
  structured_or_fall_back<op::sqrt, op::sqrt_out, meta::structured_sqrt>(
      m, Computes("sqrt(a)"));
  structured_or_fall_back<op::sign, op::sign_out, meta::structured_sign>(
      m, Computes("(a > 0) - (a < 0)"));
  structured_or_fall_back<op::ceil, op::ceil_out, meta::structured_ceil>(
      m, Computes("ceil(a)", "a"));
  // LITERALINCLUDE END: UNARY
  structured_or_fall_back<op::exp2, op::exp2_out, meta::structured_exp2>(
      m, Computes("exp2(a)"));
  structured_or_fall_back<op::expm1, op::expm1_out, meta::structured_expm1>(
      m, Computes("expm1(a)"));
  structured_or_fall_back<op::log, op::log_out, meta::structured_log>(
      m, Computes("log(a)"));
  structured_or_fall_back<op::log1p, op::log1p_out, meta::structured_log1p>(
      m, Computes("log1p(a)"));
  structured_or_fall_back<op::log2, op::log2_out, meta::structured_log2>(
      m, Computes("log2(a)"));
  structured_or_fall_back<op::log10, op::log10_out, meta::structured_log10>(
      m, Computes("log10(a)"));
  structured_or_fall_back<op::rsqrt, op::rsqrt_out, meta::structured_rsqrt>(
      m, Computes("1 / sqrt(a)"));
  structured_or_fall_back<op::reciprocal, op::reciprocal_out,
                          meta::structured_reciprocal>(m, Computes("1 / a"));
  structured_or_fall_back<op::sin, op::sin_out, meta::structured_sin>(
      m, Computes("sin(a)"));
  structured_or_fall_back<op::cos, op::cos_out, meta::structured_cos>(
      m, Computes("cos(a)"));
  structured_or_fall_back<op::tan, op::tan_out, meta::structured_tan>(
      m, Computes("tan(a)"));
  structured_or_fall_back<op::asin, op::asin_out, meta::structured_asin>(
      m, Computes("asin(a)"));
  structured_or_fall_back<op::acos, op::acos_out, meta::structured_acos>(
      m, Computes("acos(a)"));
  structured_or_fall_back<op::atan, op::atan_out, meta::structured_atan>(
      m, Computes("atan(a)"));
  structured_or_fall_back<op::sinh, op::sinh_out, meta::structured_sinh>(
      m, Computes("sinh(a)"));
  structured_or_fall_back<op::cosh, op::cosh_out, meta::structured_cosh>(
      m, Computes("cosh(a)"));
  structured_or_fall_back<op::tanh, op::tanh_out, meta::structured_tanh>(
      m, Computes("tanh(a)"));
  structured_or_fall_back<op::asinh, op::asinh_out, meta::structured_asinh>(
      m, Computes("asinh(a)"));
  structured_or_fall_back<op::acosh, op::acosh_out, meta::structured_acosh>(
      m, Computes("acosh(a)"));
  structured_or_fall_back<op::atanh, op::atanh_out, meta::structured_atanh>(
      m, Computes("atanh(a)"));
  structured_or_fall_back<op::erf, op::erf_out, meta::structured_erf>(
      m, Computes("erf(a)"));
  structured_or_fall_back<op::erfc, op::erfc_out, meta::structured_erfc>(
      m, Computes("erfc(a)"));
  structured_or_fall_back<op::erfinv, op::erfinv_out, meta::structured_erfinv>(
      m, Computes("inverse_erf(a)"));
  structured_or_fall_back<op::sigmoid, op::sigmoid_out, meta::structured_sigmoid>(
      m, Computes("sigmoid(a)"));
  structured_or_fall_back<op::neg, op::neg_out, meta::structured_neg>(m,
                                                                      Computes("-a"));
  structured_or_fall_back<op::sgn, op::sgn_out, meta::structured_sgn>(
      m, Computes("(a > 0) - (a < 0)"));
  structured_or_fall_back<op::floor, op::floor_out, meta::structured_floor>(
      m, Computes("floor(a)", "a"));
  structured_or_fall_back<op::trunc, op::trunc_out, meta::structured_trunc>(
      m, Computes("trunc(a)", "a"));
  structured_or_fall_back<op::round, op::round_out, meta::structured_round>(
      m, Computes("rint(a)", "a"));
  structured_or_fall_back<op::frac, op::frac_out, meta::structured_frac>(
      m, Computes("a - trunc(a)"));
  structured_or_fall_back<op::signbit, op::signbit_out, meta::structured_signbit>(
      m, Computes("signbit(a)", "a < 0"));
  structured_or_fall_back<op::isposinf, op::isposinf_out, meta::structured_isposinf>(
      m, Computes("a == INFINITY", "0"));
  structured_or_fall_back<op::isneginf, op::isneginf_out, meta::structured_isneginf>(
      m, Computes("a == -INFINITY", "0"));
  structured_or_fall_back<op::bitwise_not, op::bitwise_not_out,
                          meta::structured_bitwise_not>(m,
                                                        Computes(nullptr, "~a", "!a"));
  structured_or_fall_back<op::clamp, op::clamp_out, meta::structured_clamp>(m, clamp);
  structured_or_fall_back<op::clamp_min, op::clamp_min_out, meta::structured_clamp_min>(
      m, ComputesWithNumbers("at_least(a, p)"));
  structured_or_fall_back<op::clamp_max, op::clamp_max_out, meta::structured_clamp_max>(
      m, ComputesWithNumbers("at_most(a, p)"));
  structured_or_fall_back<op::pow_Tensor_Scalar, op::pow_Tensor_Scalar_out,
                          PowTensorScalar>(m, pow_scalar);
}

}  // namespace ocl::opencl::unary
