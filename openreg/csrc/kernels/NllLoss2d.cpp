// The negative log likelihood of images; see docs/operators/structured.md.
#include "csrc/aten/meta/NllLoss2d.h"

#include <ATen/Operators.h>
#include <ATen/ops/nll_loss2d_backward.h>
#include <ATen/ops/nll_loss2d_forward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::nll_loss2d_forward, op::nll_loss2d_forward_output, NllLoss2d,
              at::nll_loss2d_forward_outf>(m);
  cpu::on_cpu<op::nll_loss2d_backward, op::nll_loss2d_backward_grad_input,
              NllLoss2dBackward, at::nll_loss2d_backward_outf>(m);
}

}  // namespace openreg
