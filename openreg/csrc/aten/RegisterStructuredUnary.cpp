// Registers element-wise operators of one tensor; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
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
#include <ATen/ops/pow_meta.h>
#include <ATen/ops/reciprocal_meta.h>
#include <ATen/ops/round.h>
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

#include "csrc/aten/kernels/Into.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

namespace {

// Torch's meta function leaves it to the kernel to convert the exponent.
struct PowTensorScalar : meta::structured_pow_Tensor_Scalar {
  void meta(const at::Tensor& self, const at::Scalar& exponent) {
    structured_pow_Tensor_Scalar::meta(self, exponent);
    const at::ScalarType dtype = common_dtype();
    if (dtype != at::kFloat && dtype != at::kDouble && !at::isComplexType(dtype)) {
      check_scalar(exponent, dtype);
    }
  }
};

constexpr auto* kRoundDecimals =
    static_cast<at::Tensor (*)(const at::Tensor&, int64_t)>(at::round);
constexpr auto* kRoundDecimalsOut =
    static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, at::Tensor&)>(
        cpu::round_outf);

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::sgn, op::sgn_out, meta::structured_sgn, cpu::sgn_outf>(m);
  structured<op::acos, op::acos_out, meta::structured_acos, cpu::acos_outf>(m);
  structured<op::acosh, op::acosh_out, meta::structured_acosh, cpu::acosh_outf>(m);
  structured<op::asin, op::asin_out, meta::structured_asin, cpu::asin_outf>(m);
  structured<op::asinh, op::asinh_out, meta::structured_asinh, cpu::asinh_outf>(m);
  structured<op::atan, op::atan_out, meta::structured_atan, cpu::atan_outf>(m);
  structured<op::atanh, op::atanh_out, meta::structured_atanh, cpu::atanh_outf>(m);
  structured<op::bitwise_not, op::bitwise_not_out, meta::structured_bitwise_not,
             cpu::bitwise_not_outf>(m);
  structured<op::ceil, op::ceil_out, meta::structured_ceil, cpu::ceil_outf>(m);
  structured<op::cos, op::cos_out, meta::structured_cos, cpu::cos_outf>(m);
  structured<op::cosh, op::cosh_out, meta::structured_cosh, cpu::cosh_outf>(m);
  structured<op::erf, op::erf_out, meta::structured_erf, cpu::erf_outf>(m);
  structured<op::erfc, op::erfc_out, meta::structured_erfc, cpu::erfc_outf>(m);
  structured<op::exp, op::exp_out, meta::structured_exp, cpu::exp_outf>(m);
  structured<op::exp2, op::exp2_out, meta::structured_exp2, cpu::exp2_outf>(m);
  structured<op::expm1, op::expm1_out, meta::structured_expm1, cpu::expm1_outf>(m);
  structured<op::floor, op::floor_out, meta::structured_floor, cpu::floor_outf>(m);
  structured<op::frac, op::frac_out, meta::structured_frac, cpu::frac_outf>(m);
  structured<op::log, op::log_out, meta::structured_log, cpu::log_outf>(m);
  structured<op::log10, op::log10_out, meta::structured_log10, cpu::log10_outf>(m);
  structured<op::log1p, op::log1p_out, meta::structured_log1p, cpu::log1p_outf>(m);
  structured<op::log2, op::log2_out, meta::structured_log2, cpu::log2_outf>(m);
  structured<op::reciprocal, op::reciprocal_out, meta::structured_reciprocal,
             cpu::reciprocal_outf>(m);
  structured<op::neg, op::neg_out, meta::structured_neg, cpu::neg_outf>(m);
  structured<op::round, op::round_out, meta::structured_round, cpu::round_outf>(m);
  structured<op::round_decimals, op::round_decimals_out,
             meta::structured_round_decimals,
             InFloat<kRoundDecimals, kRoundDecimalsOut>::write>(m);
  structured<op::rsqrt, op::rsqrt_out, meta::structured_rsqrt, cpu::rsqrt_outf>(m);
  structured<op::sigmoid, op::sigmoid_out, meta::structured_sigmoid, cpu::sigmoid_outf>(
      m);
  structured<op::sin, op::sin_out, meta::structured_sin, cpu::sin_outf>(m);
  structured<op::sinh, op::sinh_out, meta::structured_sinh, cpu::sinh_outf>(m);
  structured<op::sqrt, op::sqrt_out, meta::structured_sqrt, cpu::sqrt_outf>(m);
  structured<op::tan, op::tan_out, meta::structured_tan, cpu::tan_outf>(m);
  structured<op::tanh, op::tanh_out, meta::structured_tanh, cpu::tanh_outf>(m);
  structured<op::trunc, op::trunc_out, meta::structured_trunc, cpu::trunc_outf>(m);
  structured<op::sign, op::sign_out, meta::structured_sign, cpu::sign_outf>(m);
  structured<op::signbit, op::signbit_out, meta::structured_signbit, cpu::signbit_outf>(
      m);
  structured<op::isposinf, op::isposinf_out, meta::structured_isposinf,
             cpu::isposinf_outf>(m);
  structured<op::isneginf, op::isneginf_out, meta::structured_isneginf,
             cpu::isneginf_outf>(m);
  structured<op::clamp, op::clamp_out, meta::structured_clamp, cpu::clamp_outf>(m);
  structured<op::clamp_max, op::clamp_max_out, meta::structured_clamp_max,
             cpu::clamp_max_outf>(m);
  structured<op::clamp_min, op::clamp_min_out, meta::structured_clamp_min,
             cpu::clamp_min_outf>(m);
  structured<op::pow_Tensor_Scalar, op::pow_Tensor_Scalar_out, PowTensorScalar,
             cpu::pow_outf>(m);
}

}  // namespace openreg
