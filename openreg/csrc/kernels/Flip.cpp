// Reverses the order of elements; see docs/operators/structured.md.
#include "csrc/aten/meta/Flip.h"

#include <ATen/Operators.h>
#include <ATen/ops/flip.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

// LITERALINCLUDE START: FLIP
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::flip, Flip, at::flip_outf>(m);
}
// LITERALINCLUDE END: FLIP

}  // namespace openreg
