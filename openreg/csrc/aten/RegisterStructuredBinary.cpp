// Registers element-wise operators of several tensors; see
// docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
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
#include <ATen/ops/eq_meta.h>
#include <ATen/ops/fmax_meta.h>
#include <ATen/ops/fmin_meta.h>
#include <ATen/ops/fmod_meta.h>
#include <ATen/ops/ge_meta.h>
#include <ATen/ops/gt_meta.h>
#include <ATen/ops/isnan_native.h>
#include <ATen/ops/le_meta.h>
#include <ATen/ops/lerp_meta.h>
#include <ATen/ops/logaddexp_meta.h>
#include <ATen/ops/lt_meta.h>
#include <ATen/ops/maximum_meta.h>
#include <ATen/ops/minimum_meta.h>
#include <ATen/ops/mul_meta.h>
#include <ATen/ops/ne_meta.h>
#include <ATen/ops/pow_meta.h>
#include <ATen/ops/remainder_meta.h>
#include <ATen/ops/rsub_native.h>
#include <ATen/ops/sub_meta.h>
#include <ATen/ops/xlogy_meta.h>

#include "csrc/aten/kernels/IntegerDivision.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::mul_Tensor, op::mul_out, meta::structured_mul_Tensor, cpu::mul_outf>(
      m);
  structured<op::sub_Tensor, op::sub_out, meta::structured_sub_Tensor, cpu::sub_outf>(
      m);
  structured<op::div_Tensor, op::div_out, meta::structured_div_Tensor, cpu::div_outf>(
      m);
  structured<op::div_Tensor_mode, op::div_out_mode, meta::structured_div_Tensor_mode,
             kernels::div_mode_out>(m);
  structured<op::fmod_Tensor, op::fmod_Tensor_out, meta::structured_fmod_Tensor,
             kernels::fmod_out>(m);
  structured<op::remainder_Tensor, op::remainder_Tensor_out,
             meta::structured_remainder_Tensor, kernels::remainder_out>(m);
  structured<op::pow_Tensor_Tensor, op::pow_Tensor_Tensor_out,
             meta::structured_pow_Tensor_Tensor, cpu::pow_outf>(m);
  structured<op::pow_Scalar, op::pow_Scalar_out, meta::structured_pow_Scalar,
             cpu::pow_outf>(m);
  structured<op::atan2, op::atan2_out, meta::structured_atan2, cpu::atan2_outf>(m);
  structured<op::logaddexp, op::logaddexp_out, meta::structured_logaddexp,
             cpu::logaddexp_outf>(m);
  structured<op::xlogy_Tensor, op::xlogy_OutTensor, meta::structured_xlogy_Tensor,
             cpu::xlogy_outf>(m);
  structured<op::maximum, op::maximum_out, meta::structured_maximum, cpu::maximum_outf>(
      m);
  structured<op::minimum, op::minimum_out, meta::structured_minimum, cpu::minimum_outf>(
      m);
  structured<op::fmax, op::fmax_out, meta::structured_fmax, cpu::fmax_outf>(m);
  structured<op::fmin, op::fmin_out, meta::structured_fmin, cpu::fmin_outf>(m);
  structured<op::clamp_Tensor, op::clamp_Tensor_out, meta::structured_clamp_Tensor,
             cpu::clamp_outf>(m);
  structured<op::clamp_max_Tensor, op::clamp_max_Tensor_out,
             meta::structured_clamp_max_Tensor, cpu::clamp_max_outf>(m);
  structured<op::clamp_min_Tensor, op::clamp_min_Tensor_out,
             meta::structured_clamp_min_Tensor, cpu::clamp_min_outf>(m);
  structured<op::eq_Scalar, op::eq_Scalar_out, meta::structured_eq_Scalar,
             cpu::eq_outf>(m);
  structured<op::ne_Scalar, op::ne_Scalar_out, meta::structured_ne_Scalar,
             cpu::ne_outf>(m);
  structured<op::lt_Scalar, op::lt_Scalar_out, meta::structured_lt_Scalar,
             cpu::lt_outf>(m);
  structured<op::le_Scalar, op::le_Scalar_out, meta::structured_le_Scalar,
             cpu::le_outf>(m);
  structured<op::gt_Scalar, op::gt_Scalar_out, meta::structured_gt_Scalar,
             cpu::gt_outf>(m);
  structured<op::ge_Scalar, op::ge_Scalar_out, meta::structured_ge_Scalar,
             cpu::ge_outf>(m);
  structured<op::eq_Tensor, op::eq_Tensor_out, meta::structured_eq_Tensor,
             cpu::eq_outf>(m);
  structured<op::ne_Tensor, op::ne_Tensor_out, meta::structured_ne_Tensor,
             cpu::ne_outf>(m);
  structured<op::lt_Tensor, op::lt_Tensor_out, meta::structured_lt_Tensor,
             cpu::lt_outf>(m);
  structured<op::le_Tensor, op::le_Tensor_out, meta::structured_le_Tensor,
             cpu::le_outf>(m);
  structured<op::gt_Tensor, op::gt_Tensor_out, meta::structured_gt_Tensor,
             cpu::gt_outf>(m);
  structured<op::ge_Tensor, op::ge_Tensor_out, meta::structured_ge_Tensor,
             cpu::ge_outf>(m);
  structured<op::bitwise_and_Tensor, op::bitwise_and_Tensor_out,
             meta::structured_bitwise_and_Tensor, cpu::bitwise_and_outf>(m);
  structured<op::bitwise_or_Tensor, op::bitwise_or_Tensor_out,
             meta::structured_bitwise_or_Tensor, cpu::bitwise_or_outf>(m);
  structured<op::bitwise_xor_Tensor, op::bitwise_xor_Tensor_out,
             meta::structured_bitwise_xor_Tensor, cpu::bitwise_xor_outf>(m);
  structured<op::bitwise_left_shift_Tensor, op::bitwise_left_shift_Tensor_out,
             meta::structured_bitwise_left_shift_Tensor, cpu::bitwise_left_shift_outf>(
      m);
  structured<op::bitwise_right_shift_Tensor, op::bitwise_right_shift_Tensor_out,
             meta::structured_bitwise_right_shift_Tensor,
             cpu::bitwise_right_shift_outf>(m);
  structured<op::lerp_Scalar, op::lerp_Scalar_out, meta::structured_lerp_Scalar,
             cpu::lerp_outf>(m);
  structured<op::lerp_Tensor, op::lerp_Tensor_out, meta::structured_lerp_Tensor,
             cpu::lerp_outf>(m);
  structured<op::addcmul, op::addcmul_out, meta::structured_addcmul, cpu::addcmul_outf>(
      m);
  structured<op::addcdiv, op::addcdiv_out, meta::structured_addcdiv, cpu::addcdiv_outf>(
      m);
  // Torch's functions are made of operators, but registered for its own devices only.
  m.impl("isnan", at::native::isnan);
  m.impl("rsub.Tensor",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&,
                                    const at::Scalar&)>(at::native::rsub));
}

}  // namespace openreg
