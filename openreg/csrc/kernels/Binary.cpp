// Registers element-wise operators of several tensors; see
// docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
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

#include "csrc/kernels/cpu/IntegerDivision.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

// LITERALINCLUDE START: BINARY
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::add_Tensor, op::add_out, meta::structured_add_Tensor,
              at::cpu::add_outf>(m);
  cpu::on_cpu<op::mul_Tensor, op::mul_out, meta::structured_mul_Tensor,
              at::cpu::mul_outf>(m);
  cpu::on_cpu<op::sub_Tensor, op::sub_out, meta::structured_sub_Tensor,
              at::cpu::sub_outf>(m);
  cpu::on_cpu<op::div_Tensor, op::div_out, meta::structured_div_Tensor,
              at::cpu::div_outf>(m);
  // LITERALINCLUDE END: BINARY
  cpu::on_cpu<op::div_Tensor_mode, op::div_out_mode, meta::structured_div_Tensor_mode,
              cpu::div_mode_out>(m);
  cpu::on_cpu<op::fmod_Tensor, op::fmod_Tensor_out, meta::structured_fmod_Tensor,
              cpu::fmod_out>(m);
  cpu::on_cpu<op::remainder_Tensor, op::remainder_Tensor_out,
              meta::structured_remainder_Tensor, cpu::remainder_out>(m);
  cpu::on_cpu<op::pow_Tensor_Tensor, op::pow_Tensor_Tensor_out,
              meta::structured_pow_Tensor_Tensor, at::cpu::pow_outf>(m);
  cpu::on_cpu<op::pow_Scalar, op::pow_Scalar_out, meta::structured_pow_Scalar,
              at::cpu::pow_outf>(m);
  cpu::on_cpu<op::atan2, op::atan2_out, meta::structured_atan2, at::cpu::atan2_outf>(m);
  cpu::on_cpu<op::logaddexp, op::logaddexp_out, meta::structured_logaddexp,
              at::cpu::logaddexp_outf>(m);
  cpu::on_cpu<op::xlogy_Tensor, op::xlogy_OutTensor, meta::structured_xlogy_Tensor,
              at::cpu::xlogy_outf>(m);
  cpu::on_cpu<op::maximum, op::maximum_out, meta::structured_maximum,
              at::cpu::maximum_outf>(m);
  cpu::on_cpu<op::minimum, op::minimum_out, meta::structured_minimum,
              at::cpu::minimum_outf>(m);
  cpu::on_cpu<op::fmax, op::fmax_out, meta::structured_fmax, at::cpu::fmax_outf>(m);
  cpu::on_cpu<op::fmin, op::fmin_out, meta::structured_fmin, at::cpu::fmin_outf>(m);
  cpu::on_cpu<op::clamp_Tensor, op::clamp_Tensor_out, meta::structured_clamp_Tensor,
              at::cpu::clamp_outf>(m);
  cpu::on_cpu<op::clamp_max_Tensor, op::clamp_max_Tensor_out,
              meta::structured_clamp_max_Tensor, at::cpu::clamp_max_outf>(m);
  cpu::on_cpu<op::clamp_min_Tensor, op::clamp_min_Tensor_out,
              meta::structured_clamp_min_Tensor, at::cpu::clamp_min_outf>(m);
  cpu::on_cpu<op::eq_Scalar, op::eq_Scalar_out, meta::structured_eq_Scalar,
              at::cpu::eq_outf>(m);
  cpu::on_cpu<op::ne_Scalar, op::ne_Scalar_out, meta::structured_ne_Scalar,
              at::cpu::ne_outf>(m);
  cpu::on_cpu<op::lt_Scalar, op::lt_Scalar_out, meta::structured_lt_Scalar,
              at::cpu::lt_outf>(m);
  cpu::on_cpu<op::le_Scalar, op::le_Scalar_out, meta::structured_le_Scalar,
              at::cpu::le_outf>(m);
  cpu::on_cpu<op::gt_Scalar, op::gt_Scalar_out, meta::structured_gt_Scalar,
              at::cpu::gt_outf>(m);
  cpu::on_cpu<op::ge_Scalar, op::ge_Scalar_out, meta::structured_ge_Scalar,
              at::cpu::ge_outf>(m);
  cpu::on_cpu<op::eq_Tensor, op::eq_Tensor_out, meta::structured_eq_Tensor,
              at::cpu::eq_outf>(m);
  cpu::on_cpu<op::ne_Tensor, op::ne_Tensor_out, meta::structured_ne_Tensor,
              at::cpu::ne_outf>(m);
  cpu::on_cpu<op::lt_Tensor, op::lt_Tensor_out, meta::structured_lt_Tensor,
              at::cpu::lt_outf>(m);
  cpu::on_cpu<op::le_Tensor, op::le_Tensor_out, meta::structured_le_Tensor,
              at::cpu::le_outf>(m);
  cpu::on_cpu<op::gt_Tensor, op::gt_Tensor_out, meta::structured_gt_Tensor,
              at::cpu::gt_outf>(m);
  cpu::on_cpu<op::ge_Tensor, op::ge_Tensor_out, meta::structured_ge_Tensor,
              at::cpu::ge_outf>(m);
  cpu::on_cpu<op::bitwise_and_Tensor, op::bitwise_and_Tensor_out,
              meta::structured_bitwise_and_Tensor, at::cpu::bitwise_and_outf>(m);
  cpu::on_cpu<op::bitwise_or_Tensor, op::bitwise_or_Tensor_out,
              meta::structured_bitwise_or_Tensor, at::cpu::bitwise_or_outf>(m);
  cpu::on_cpu<op::bitwise_xor_Tensor, op::bitwise_xor_Tensor_out,
              meta::structured_bitwise_xor_Tensor, at::cpu::bitwise_xor_outf>(m);
  cpu::on_cpu<op::bitwise_left_shift_Tensor, op::bitwise_left_shift_Tensor_out,
              meta::structured_bitwise_left_shift_Tensor,
              at::cpu::bitwise_left_shift_outf>(m);
  cpu::on_cpu<op::bitwise_right_shift_Tensor, op::bitwise_right_shift_Tensor_out,
              meta::structured_bitwise_right_shift_Tensor,
              at::cpu::bitwise_right_shift_outf>(m);
  cpu::on_cpu<op::lerp_Scalar, op::lerp_Scalar_out, meta::structured_lerp_Scalar,
              at::cpu::lerp_outf>(m);
  cpu::on_cpu<op::lerp_Tensor, op::lerp_Tensor_out, meta::structured_lerp_Tensor,
              at::cpu::lerp_outf>(m);
  cpu::on_cpu<op::addcmul, op::addcmul_out, meta::structured_addcmul,
              at::cpu::addcmul_outf>(m);
  cpu::on_cpu<op::addcdiv, op::addcdiv_out, meta::structured_addcdiv,
              at::cpu::addcdiv_outf>(m);
  // Torch's functions are made of operators, but registered for its own devices only.
  m.impl("isnan", at::native::isnan);
  m.impl("rsub.Tensor",
         static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&,
                                    const at::Scalar&)>(at::native::rsub));
}

}  // namespace openreg
