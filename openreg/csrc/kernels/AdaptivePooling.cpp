// Adaptive average pooling; see docs/operators/structured.md.
#include "csrc/aten/meta/AdaptivePooling.h"

#include <ATen/Operators.h>
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>

#include "csrc/aten/structured/OutOnly.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using Pool2d = AdaptiveAvgPool<2, at::_adaptive_avg_pool2d>;
  using Pool3d = AdaptiveAvgPool<3, at::_adaptive_avg_pool3d>;
  using Backward2d = AdaptiveAvgPoolBackward<2, at::_adaptive_avg_pool2d_backward>;
  using Backward3d = AdaptiveAvgPoolBackward<3, at::_adaptive_avg_pool3d_backward>;
  constexpr auto* kPool2d = cpu::out_variant<at::_adaptive_avg_pool2d>;
  constexpr auto* kPool3d = cpu::out_variant<at::_adaptive_avg_pool3d>;
  constexpr auto* kBackward2d = cpu::out_variant<at::_adaptive_avg_pool2d_backward>;
  constexpr auto* kBackward3d = cpu::out_variant<at::_adaptive_avg_pool3d_backward>;

  cpu::on_cpu_without_out<op::_adaptive_avg_pool2d, Pool2d, kPool2d>(m);
  cpu::on_cpu_without_out<op::_adaptive_avg_pool3d, Pool3d, kPool3d>(m);
  cpu::on_cpu_without_out<op::_adaptive_avg_pool2d_backward, Backward2d, kBackward2d>(
      m);
  cpu::on_cpu_without_out<op::_adaptive_avg_pool3d_backward, Backward3d, kBackward3d>(
      m);
  // Torch has the forms with out= under other names.
  structured_out<op::adaptive_avg_pool2d_out, Pool2d>(m, cpu::OnCpu<kPool2d>());
  structured_out<op::adaptive_avg_pool3d_out, Pool3d>(m, cpu::OnCpu<kPool3d>());
  structured_out<op::adaptive_avg_pool3d_backward_grad_input, Backward3d>(
      m, cpu::OnCpu<kBackward3d>());
}

}  // namespace openreg
