// Weight normalization; see docs/operators/structured.md.
#include "csrc/aten/meta/WeightNorm.h"

#include <ATen/Operators.h>
#include <ATen/ops/_weight_norm_interface.h>
#include <ATen/ops/_weight_norm_interface_backward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::_weight_norm_interface, WeightNorm,
                          at::_weight_norm_interface_outf>(m);
  cpu::on_cpu_without_out<op::_weight_norm_interface_backward, WeightNormBackward,
                          at::_weight_norm_interface_backward_outf>(m);
}

}  // namespace openreg
