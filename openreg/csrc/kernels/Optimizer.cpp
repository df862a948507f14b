// Kernels of the fused optimizers, and what GradScaler needs; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Optimizer.h"

#include <ATen/Operators.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include "csrc/kernels/cpu/InPlace.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::in_place<op::_fused_sgd_, at::_fused_sgd_, Sgd>(m);
  cpu::in_place<op::_fused_sgd__tensor_lr, at::_fused_sgd_, Sgd>(m);
  cpu::in_place<op::_fused_adam_, at::_fused_adam_, Lists<true>>(m);
  cpu::in_place<op::_fused_adam__tensor_lr, at::_fused_adam_, Lists<true>>(m);
  cpu::in_place<op::_fused_adamw_, at::_fused_adamw_, Lists<true>>(m);
  cpu::in_place<op::_fused_adamw__tensor_lr, at::_fused_adamw_, Lists<true>>(m);
  cpu::in_place<op::_fused_adagrad_, at::_fused_adagrad_, Lists<true>>(m);
  cpu::in_place<op::_fused_adagrad__tensor_lr, at::_fused_adagrad_, Lists<true>>(m);
  cpu::in_place<op::_amp_foreach_non_finite_check_and_unscale_,
                at::_amp_foreach_non_finite_check_and_unscale_, Unscale>(m);
  cpu::in_place<op::_amp_update_scale_, at::_amp_update_scale_, UpdateScale>(m);
}

}  // namespace openreg
