// Cuts images into the columns of a matrix, and back; see docs/operators/structured.md.
#include "csrc/aten/meta/Im2Col.h"

#include <ATen/Operators.h>
#include <ATen/ops/col2im.h>
#include <ATen/ops/im2col.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::im2col, op::im2col_out, Im2Col, cpu::out_variant<at::im2col>>(m);
  cpu::on_cpu<op::col2im, op::col2im_out, Col2Im, cpu::out_variant<at::col2im>>(m);
}

}  // namespace openreg
