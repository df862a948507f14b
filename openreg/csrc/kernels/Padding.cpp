// Padding by reflection and replication, where torch has no structured meta function,
// or the CPU's kernel changes the strides that it requested; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Padding.h"

#include <ATen/Operators.h>
#include <ATen/ops/reflection_pad2d.h>
#include <ATen/ops/reflection_pad2d_backward.h>
#include <ATen/ops/reflection_pad3d.h>
#include <ATen/ops/reflection_pad3d_backward.h>
#include <ATen/ops/replication_pad2d.h>
#include <ATen/ops/replication_pad2d_backward.h>
#include <ATen/ops/replication_pad3d.h>
#include <ATen/ops/replication_pad3d_backward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;

template <class Op, class Out, int64_t kDims, Padding::Forward* kFunction>
void pad(torch::Library& m) {
  cpu::on_cpu<Op, Out, Pad<kDims, kFunction>, cpu::out_variant<kFunction>>(m);
}

template <class Op, class Out, int64_t kDims, Padding::Backward* kFunction>
void pad_backward(torch::Library& m) {
  cpu::on_cpu<Op, Out, PadBackward<kDims, kFunction>, cpu::out_variant<kFunction>>(m);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  pad<op::reflection_pad2d, op::reflection_pad2d_out, 2, at::reflection_pad2d>(m);
  pad<op::reflection_pad3d, op::reflection_pad3d_out, 3, at::reflection_pad3d>(m);
  pad<op::replication_pad2d, op::replication_pad2d_out, 2, at::replication_pad2d>(m);
  pad<op::replication_pad3d, op::replication_pad3d_out, 3, at::replication_pad3d>(m);
  pad_backward<op::reflection_pad2d_backward, op::reflection_pad2d_backward_grad_input,
               2, at::reflection_pad2d_backward>(m);
  pad_backward<op::reflection_pad3d_backward, op::reflection_pad3d_backward_grad_input,
               3, at::reflection_pad3d_backward>(m);
  pad_backward<op::replication_pad2d_backward,
               op::replication_pad2d_backward_grad_input, 2,
               at::replication_pad2d_backward>(m);
  pad_backward<op::replication_pad3d_backward,
               op::replication_pad3d_backward_grad_input, 3,
               at::replication_pad3d_backward>(m);
}

}  // namespace openreg
