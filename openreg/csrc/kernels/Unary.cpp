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

#include "csrc/aten/meta/Power.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

constexpr auto* kRoundDecimals =
    static_cast<at::Tensor (*)(const at::Tensor&, int64_t)>(at::round);
constexpr auto* kRoundDecimalsOut =
    static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, at::Tensor&)>(
        at::cpu::round_outf);

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::sgn, op::sgn_out, meta::structured_sgn, at::cpu::sgn_outf>(m);
  cpu::on_cpu<op::acos, op::acos_out, meta::structured_acos, at::cpu::acos_outf>(m);
  cpu::on_cpu<op::acosh, op::acosh_out, meta::structured_acosh, at::cpu::acosh_outf>(m);
  cpu::on_cpu<op::asin, op::asin_out, meta::structured_asin, at::cpu::asin_outf>(m);
  cpu::on_cpu<op::asinh, op::asinh_out, meta::structured_asinh, at::cpu::asinh_outf>(m);
  cpu::on_cpu<op::atan, op::atan_out, meta::structured_atan, at::cpu::atan_outf>(m);
  cpu::on_cpu<op::atanh, op::atanh_out, meta::structured_atanh, at::cpu::atanh_outf>(m);
  cpu::on_cpu<op::bitwise_not, op::bitwise_not_out, meta::structured_bitwise_not,
              at::cpu::bitwise_not_outf>(m);
  cpu::on_cpu<op::ceil, op::ceil_out, meta::structured_ceil, at::cpu::ceil_outf>(m);
  cpu::on_cpu<op::cos, op::cos_out, meta::structured_cos, at::cpu::cos_outf>(m);
  cpu::on_cpu<op::cosh, op::cosh_out, meta::structured_cosh, at::cpu::cosh_outf>(m);
  cpu::on_cpu<op::erf, op::erf_out, meta::structured_erf, at::cpu::erf_outf>(m);
  cpu::on_cpu<op::erfc, op::erfc_out, meta::structured_erfc, at::cpu::erfc_outf>(m);
  cpu::on_cpu<op::exp, op::exp_out, meta::structured_exp, at::cpu::exp_outf>(m);
  cpu::on_cpu<op::exp2, op::exp2_out, meta::structured_exp2, at::cpu::exp2_outf>(m);
  cpu::on_cpu<op::expm1, op::expm1_out, meta::structured_expm1, at::cpu::expm1_outf>(m);
  cpu::on_cpu<op::floor, op::floor_out, meta::structured_floor, at::cpu::floor_outf>(m);
  cpu::on_cpu<op::frac, op::frac_out, meta::structured_frac, at::cpu::frac_outf>(m);
  cpu::on_cpu<op::log, op::log_out, meta::structured_log, at::cpu::log_outf>(m);
  cpu::on_cpu<op::log10, op::log10_out, meta::structured_log10, at::cpu::log10_outf>(m);
  cpu::on_cpu<op::log1p, op::log1p_out, meta::structured_log1p, at::cpu::log1p_outf>(m);
  cpu::on_cpu<op::log2, op::log2_out, meta::structured_log2, at::cpu::log2_outf>(m);
  cpu::on_cpu<op::reciprocal, op::reciprocal_out, meta::structured_reciprocal,
              at::cpu::reciprocal_outf>(m);
  cpu::on_cpu<op::neg, op::neg_out, meta::structured_neg, at::cpu::neg_outf>(m);
  cpu::on_cpu<op::round, op::round_out, meta::structured_round, at::cpu::round_outf>(m);
  cpu::on_cpu<op::round_decimals, op::round_decimals_out,
              meta::structured_round_decimals,
              cpu::reduced_in_float<kRoundDecimals, kRoundDecimalsOut>>(m);
  cpu::on_cpu<op::rsqrt, op::rsqrt_out, meta::structured_rsqrt, at::cpu::rsqrt_outf>(m);
  cpu::on_cpu<op::sigmoid, op::sigmoid_out, meta::structured_sigmoid,
              at::cpu::sigmoid_outf>(m);
  cpu::on_cpu<op::sin, op::sin_out, meta::structured_sin, at::cpu::sin_outf>(m);
  cpu::on_cpu<op::sinh, op::sinh_out, meta::structured_sinh, at::cpu::sinh_outf>(m);
  cpu::on_cpu<op::sqrt, op::sqrt_out, meta::structured_sqrt, at::cpu::sqrt_outf>(m);
  cpu::on_cpu<op::tan, op::tan_out, meta::structured_tan, at::cpu::tan_outf>(m);
  cpu::on_cpu<op::tanh, op::tanh_out, meta::structured_tanh, at::cpu::tanh_outf>(m);
  cpu::on_cpu<op::trunc, op::trunc_out, meta::structured_trunc, at::cpu::trunc_outf>(m);
  cpu::on_cpu<op::sign, op::sign_out, meta::structured_sign, at::cpu::sign_outf>(m);
  cpu::on_cpu<op::signbit, op::signbit_out, meta::structured_signbit,
              at::cpu::signbit_outf>(m);
  cpu::on_cpu<op::isposinf, op::isposinf_out, meta::structured_isposinf,
              at::cpu::isposinf_outf>(m);
  cpu::on_cpu<op::isneginf, op::isneginf_out, meta::structured_isneginf,
              at::cpu::isneginf_outf>(m);
  cpu::on_cpu<op::clamp, op::clamp_out, meta::structured_clamp, at::cpu::clamp_outf>(m);
  cpu::on_cpu<op::clamp_max, op::clamp_max_out, meta::structured_clamp_max,
              at::cpu::clamp_max_outf>(m);
  cpu::on_cpu<op::clamp_min, op::clamp_min_out, meta::structured_clamp_min,
              at::cpu::clamp_min_outf>(m);
  cpu::on_cpu<op::pow_Tensor_Scalar, op::pow_Tensor_Scalar_out, PowTensorScalar,
              at::cpu::pow_outf>(m);
}

}  // namespace openreg
