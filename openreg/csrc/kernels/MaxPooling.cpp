// Maximum pooling over volumes, and its inverse; see docs/operators/structured.md.
#include "csrc/aten/meta/MaxPooling.h"

#include <ATen/Operators.h>
#include <ATen/ops/fractional_max_pool3d_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/max_unpool2d.h>
#include <ATen/ops/max_unpool3d.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::max_pool3d_with_indices, op::max_pool3d_with_indices_out, MaxPool3d,
              cpu::out_variant<at::max_pool3d_with_indices>>(m);
  cpu::on_cpu<op::max_pool3d_with_indices_backward,
              op::max_pool3d_with_indices_backward_grad_input, MaxPool3dBackward,
              cpu::out_variant<at::max_pool3d_with_indices_backward>>(m);
  // Writes elements to the places that `indices` lists in each image, else zeros.
  cpu::on_cpu<op::max_unpool2d, op::max_unpool2d_out, MaxUnpool2d,
              cpu::without_warnings<cpu::out_variant<at::max_unpool2d>>>(m);
  cpu::on_cpu<op::max_unpool3d, op::max_unpool3d_out, MaxUnpool3d,
              cpu::without_warnings<cpu::out_variant<at::max_unpool3d>>>(m);
  cpu::on_cpu<op::fractional_max_pool3d_backward,
              op::fractional_max_pool3d_backward_grad_input, FractionalPool3dBackward,
              cpu::out_variant<at::fractional_max_pool3d_backward>>(m);
}

}  // namespace openreg
