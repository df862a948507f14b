// Activations without a structured meta function; see docs/operators/structured.md.
#include "csrc/aten/meta/GatedActivation.h"

#include <ATen/Operators.h>
#include <ATen/ops/glu_backward.h>
#include <ATen/ops/log_sigmoid_forward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::glu_backward, op::glu_backward_grad_input, GluBackward,
              cpu::out_variant<at::glu_backward>>(m);
  cpu::on_cpu<op::log_sigmoid_forward, op::log_sigmoid_forward_output, LogSigmoid,
              cpu::out_variant<at::log_sigmoid_forward>>(m);
}

}  // namespace openreg
