// Element-wise functions of several tensors; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ScalarOps.h>
#include <ATen/ops/add_meta.h>
#include <ATen/ops/addcdiv_meta.h>
#include <ATen/ops/addcmul_meta.h>
#include <ATen/ops/atan2_meta.h>
#include <ATen/ops/bitwise_and_meta.h>
#include <ATen/ops/bitwise_left_shift_meta.h>
#include <ATen/ops/bitwise_or_meta.h>
#include <ATen/ops/bitwise_right_shift_meta.h>
#include <ATen/ops/bitwise_xor_meta.h>
#include <ATen/ops/clamp_max_meta.h>
#include <ATen/ops/clamp_meta.h>
#include <ATen/ops/clamp_min_meta.h>
#include <ATen/ops/div_meta.h>
#include <ATen/ops/fmax_meta.h>
#include <ATen/ops/fmin_meta.h>
#include <ATen/ops/fmod_meta.h>
#include <ATen/ops/hypot_meta.h>
#include <ATen/ops/lerp_meta.h>
#include <ATen/ops/logaddexp_meta.h>
#include <ATen/ops/maximum_meta.h>
#include <ATen/ops/minimum_meta.h>
#include <ATen/ops/mul_meta.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/pow_meta.h>
#include <ATen/ops/remainder_meta.h>
#include <ATen/ops/remainder_native.h>
#include <ATen/ops/rsub_native.h>
#include <ATen/ops/sub_meta.h>
#include <ATen/ops/xlogy_meta.h>

#include "csrc/kernels/opencl/Pointwise.h"

namespace ocl::opencl::binary {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

bool div_mode(at::TensorIteratorBase& iterator, std::optional<std::string_view> mode) {
  return pointwise(iterator, !mode.has_value()  ? Formula{"a / b"}
                             : *mode == "trunc" ? Formula{"div_trunc(a, b)"}
                                                : Formula{"div_floor(a, b)"});
}

bool pow_of_number(const at::Scalar& base, const at::Tensor& exponent,
                   at::Tensor& out) {
  at::pow_out(out, at::native::wrapped_scalar_tensor(base), exponent);
  return true;
}

// The iterator does not contain which bounds are given.
using ClampTensor = MetaOf<op::clamp_Tensor, meta::structured_clamp_Tensor>;
bool clamp(at::TensorIteratorBase& iterator) {
  if (iterator.ninputs() == 3) {
    return pointwise(iterator, {"at_most(at_least(a, b), c)"});
  }
  const auto* low = std::get<1>(static_cast<ClampTensor&>(iterator).arguments);
  return is_given(*low) ? pointwise(iterator, {"at_least(a, b)"})
                        : pointwise(iterator, {"at_most(a, b)"});
}

// A number that does not fit the dtype is an error, as in ATen's kernels of the CPU.
struct AddsScaled : ComputesWithNumbers {
  using ComputesWithNumbers::ComputesWithNumbers;

  bool operator()(at::TensorIteratorBase& iterator, const at::Scalar& alpha) const {
    if (iterator.common_dtype() == at::kHalf) {
      alpha.toHalf();
    }
    return ComputesWithNumbers::operator()(iterator, alpha);
  }
};

}  // namespace

// LITERALINCLUDE START: BINARY_FORMULAS
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::add_Tensor, op::add_out, meta::structured_add_Tensor>(
      m, AddsScaled("a + p * b"));
  structured_or_fall_back<op::mul_Tensor, op::mul_out, meta::structured_mul_Tensor>(
      m, Computes("a * b"));
  // LITERALINCLUDE END: BINARY_FORMULAS
  structured_or_fall_back<op::sub_Tensor, op::sub_out, meta::structured_sub_Tensor>(
      m, AddsScaled("a - p * b"));
  structured_or_fall_back<op::div_Tensor, op::div_out, meta::structured_div_Tensor>(
      m, Computes("a / b"));
  structured_or_fall_back<op::div_Tensor_mode, op::div_out_mode,
                          meta::structured_div_Tensor_mode>(m, div_mode);
  structured_or_fall_back<op::fmod_Tensor, op::fmod_Tensor_out,
                          meta::structured_fmod_Tensor>(m,
                                                        Computes("modulo_trunc(a, b)"));
  structured_or_fall_back<op::remainder_Tensor, op::remainder_Tensor_out,
                          meta::structured_remainder_Tensor>(m,
                                                             Computes("modulo(a, b)"));
  structured_or_fall_back<op::pow_Tensor_Tensor, op::pow_Tensor_Tensor_out,
                          meta::structured_pow_Tensor_Tensor>(
      m, Computes("pow(a, b)", "power(a, b)"));
  structured_or_fall_back<op::pow_Scalar, op::pow_Scalar_out,
                          meta::structured_pow_Scalar>(m, pow_of_number);
  structured_or_fall_back<op::atan2, op::atan2_out, meta::structured_atan2>(
      m, Computes("atan2(a, b)"));
  structured_or_fall_back<op::hypot, op::hypot_out, meta::structured_hypot>(
      m, Computes("hypot(a, b)"));
  structured_or_fall_back<op::logaddexp, op::logaddexp_out, meta::structured_logaddexp>(
      m, Computes("add_exponentials(a, b)"));
  structured_or_fall_back<op::xlogy_Tensor, op::xlogy_OutTensor,
                          meta::structured_xlogy_Tensor>(m, Computes("x_log_y(a, b)"));
  structured_or_fall_back<op::maximum, op::maximum_out, meta::structured_maximum>(
      m, Computes("isnan(a) ? a : at_least(a, b)", "at_least(a, b)"));
  structured_or_fall_back<op::minimum, op::minimum_out, meta::structured_minimum>(
      m, Computes("isnan(a) ? a : at_most(a, b)", "at_most(a, b)"));
  structured_or_fall_back<op::fmax, op::fmax_out, meta::structured_fmax>(
      m, Computes("fmax(a, b)", "at_least(a, b)"));
  structured_or_fall_back<op::fmin, op::fmin_out, meta::structured_fmin>(
      m, Computes("fmin(a, b)", "at_most(a, b)"));
  structured_or_fall_back<op::clamp_Tensor, op::clamp_Tensor_out,
                          meta::structured_clamp_Tensor>(m, clamp);
  structured_or_fall_back<op::clamp_min_Tensor, op::clamp_min_Tensor_out,
                          meta::structured_clamp_min_Tensor>(
      m, Computes("isnan(a) ? a : at_least(a, b)", "at_least(a, b)"));
  structured_or_fall_back<op::clamp_max_Tensor, op::clamp_max_Tensor_out,
                          meta::structured_clamp_max_Tensor>(
      m, Computes("isnan(a) ? a : at_most(a, b)", "at_most(a, b)"));
  structured_or_fall_back<op::bitwise_and_Tensor, op::bitwise_and_Tensor_out,
                          meta::structured_bitwise_and_Tensor>(
      m, Computes(nullptr, "a & b"));
  structured_or_fall_back<op::bitwise_or_Tensor, op::bitwise_or_Tensor_out,
                          meta::structured_bitwise_or_Tensor>(
      m, Computes(nullptr, "a | b"));
  structured_or_fall_back<op::bitwise_xor_Tensor, op::bitwise_xor_Tensor_out,
                          meta::structured_bitwise_xor_Tensor>(
      m, Computes(nullptr, "a ^ b"));
  structured_or_fall_back<op::bitwise_left_shift_Tensor,
                          op::bitwise_left_shift_Tensor_out,
                          meta::structured_bitwise_left_shift_Tensor>(
      m, Computes(nullptr, "shift_left(a, b)"));
  structured_or_fall_back<op::bitwise_right_shift_Tensor,
                          op::bitwise_right_shift_Tensor_out,
                          meta::structured_bitwise_right_shift_Tensor>(
      m, Computes(nullptr, "shift_right(a, b)"));
  structured_or_fall_back<op::lerp_Scalar, op::lerp_Scalar_out,
                          meta::structured_lerp_Scalar>(
      m, ComputesWithNumbers(
             "fabs(p) < (Value)0.5 ? a + p * (b - a) : b - (b - a) * (1 - p)"));
  structured_or_fall_back<op::lerp_Tensor, op::lerp_Tensor_out,
                          meta::structured_lerp_Tensor>(
      m, Computes("fabs(c) < (Value)0.5 ? a + c * (b - a) : b - (b - a) * (1 - c)"));
  structured_or_fall_back<op::addcmul, op::addcmul_out, meta::structured_addcmul>(
      m, ComputesWithNumbers("a + p * b * c"));
  structured_or_fall_back<op::addcdiv, op::addcdiv_out, meta::structured_addcdiv>(
      m, ComputesWithNumbers("a + p * b / c"));
  // Torch's functions are made of operators, but registered for its own devices only.
  m.impl("rsub.Tensor",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&,
                                    const at::Scalar&)>(at::native::rsub));
  m.impl("remainder.Scalar_Tensor",
         static_cast<at::Tensor (*)(const at::Scalar&, const at::Tensor&)>(
             at::native::remainder));
}

}  // namespace ocl::opencl::binary
