// Registers pooling, padding and interpolation; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/adaptive_max_pool2d_backward_meta.h>
#include <ATen/ops/adaptive_max_pool2d_meta.h>
#include <ATen/ops/avg_pool2d_backward_meta.h>
#include <ATen/ops/avg_pool2d_meta.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/avg_pool3d_backward_meta.h>
#include <ATen/ops/avg_pool3d_meta.h>
#include <ATen/ops/max_pool2d_with_indices_backward_meta.h>
#include <ATen/ops/max_pool2d_with_indices_meta.h>
#include <ATen/ops/reflection_pad1d_backward_meta.h>
#include <ATen/ops/reflection_pad1d_meta.h>
#include <ATen/ops/replication_pad1d_backward_meta.h>
#include <ATen/ops/replication_pad1d_meta.h>
#include <ATen/ops/upsample_bicubic2d_backward_meta.h>
#include <ATen/ops/upsample_bicubic2d_meta.h>
#include <ATen/ops/upsample_bilinear2d_backward_meta.h>
#include <ATen/ops/upsample_bilinear2d_meta.h>
#include <ATen/ops/upsample_linear1d_backward_meta.h>
#include <ATen/ops/upsample_linear1d_meta.h>
#include <ATen/ops/upsample_nearest1d_backward_meta.h>
#include <ATen/ops/upsample_nearest1d_meta.h>
#include <ATen/ops/upsample_nearest2d_backward_meta.h>
#include <ATen/ops/upsample_nearest2d_meta.h>
#include <ATen/ops/upsample_nearest3d_backward_meta.h>
#include <ATen/ops/upsample_nearest3d_meta.h>
#include <ATen/ops/upsample_trilinear3d_backward_meta.h>
#include <ATen/ops/upsample_trilinear3d_meta.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::adaptive_max_pool2d, op::adaptive_max_pool2d_out,
              meta::structured_adaptive_max_pool2d, at::cpu::adaptive_max_pool2d_outf>(
      m);
  cpu::on_cpu<op::adaptive_max_pool2d_backward,
              op::adaptive_max_pool2d_backward_grad_input,
              meta::structured_adaptive_max_pool2d_backward,
              at::cpu::adaptive_max_pool2d_backward_outf>(m);
  cpu::on_cpu<op::avg_pool2d, op::avg_pool2d_out, meta::structured_avg_pool2d,
              at::cpu::avg_pool2d_outf>(m);
  cpu::on_cpu<op::avg_pool2d_backward, op::avg_pool2d_backward_grad_input,
              meta::structured_avg_pool2d_backward, at::cpu::avg_pool2d_backward_outf>(
      m);
  cpu::on_cpu<op::avg_pool3d, op::avg_pool3d_out, meta::structured_avg_pool3d,
              cpu::reduced_in_float<at::avg_pool3d, at::cpu::avg_pool3d_outf>>(m);
  cpu::on_cpu<op::avg_pool3d_backward, op::avg_pool3d_backward_grad_input,
              meta::structured_avg_pool3d_backward,
              cpu::reduced_in_float<at::avg_pool3d_backward,
                                    at::cpu::avg_pool3d_backward_outf>>(m);
  cpu::on_cpu<op::max_pool2d_with_indices, op::max_pool2d_with_indices_out,
              meta::structured_max_pool2d_with_indices,
              at::cpu::max_pool2d_with_indices_outf>(m);
  cpu::on_cpu<op::max_pool2d_with_indices_backward,
              op::max_pool2d_with_indices_backward_grad_input,
              meta::structured_max_pool2d_with_indices_backward,
              at::cpu::max_pool2d_with_indices_backward_outf>(m);
  cpu::on_cpu<op::reflection_pad1d, op::reflection_pad1d_out,
              meta::structured_reflection_pad1d, at::cpu::reflection_pad1d_outf>(m);
  cpu::on_cpu<op::reflection_pad1d_backward, op::reflection_pad1d_backward_grad_input,
              meta::structured_reflection_pad1d_backward,
              at::cpu::reflection_pad1d_backward_outf>(m);
  cpu::on_cpu<op::replication_pad1d, op::replication_pad1d_out,
              meta::structured_replication_pad1d, at::cpu::replication_pad1d_outf>(m);
  cpu::on_cpu<op::replication_pad1d_backward, op::replication_pad1d_backward_grad_input,
              meta::structured_replication_pad1d_backward,
              at::cpu::replication_pad1d_backward_outf>(m);
  cpu::on_cpu<op::upsample_linear1d, op::upsample_linear1d_out,
              meta::structured_upsample_linear1d, at::cpu::upsample_linear1d_outf>(m);
  cpu::on_cpu<op::upsample_linear1d_backward, op::upsample_linear1d_backward_grad_input,
              meta::structured_upsample_linear1d_backward,
              at::cpu::upsample_linear1d_backward_outf>(m);
  cpu::on_cpu<op::upsample_bilinear2d, op::upsample_bilinear2d_out,
              meta::structured_upsample_bilinear2d, at::cpu::upsample_bilinear2d_outf>(
      m);
  cpu::on_cpu<op::upsample_bilinear2d_backward,
              op::upsample_bilinear2d_backward_grad_input,
              meta::structured_upsample_bilinear2d_backward,
              at::cpu::upsample_bilinear2d_backward_outf>(m);
  cpu::on_cpu<op::upsample_bicubic2d, op::upsample_bicubic2d_out,
              meta::structured_upsample_bicubic2d, at::cpu::upsample_bicubic2d_outf>(m);
  cpu::on_cpu<op::upsample_bicubic2d_backward,
              op::upsample_bicubic2d_backward_grad_input,
              meta::structured_upsample_bicubic2d_backward,
              at::cpu::upsample_bicubic2d_backward_outf>(m);
  cpu::on_cpu<op::upsample_trilinear3d, op::upsample_trilinear3d_out,
              meta::structured_upsample_trilinear3d,
              at::cpu::upsample_trilinear3d_outf>(m);
  cpu::on_cpu<op::upsample_trilinear3d_backward,
              op::upsample_trilinear3d_backward_grad_input,
              meta::structured_upsample_trilinear3d_backward,
              at::cpu::upsample_trilinear3d_backward_outf>(m);
  cpu::on_cpu<op::upsample_nearest1d, op::upsample_nearest1d_out,
              meta::structured_upsample_nearest1d, at::cpu::upsample_nearest1d_outf>(m);
  cpu::on_cpu<op::upsample_nearest1d_backward,
              op::upsample_nearest1d_backward_grad_input,
              meta::structured_upsample_nearest1d_backward,
              at::cpu::upsample_nearest1d_backward_outf>(m);
  cpu::on_cpu<op::upsample_nearest2d, op::upsample_nearest2d_out,
              meta::structured_upsample_nearest2d, at::cpu::upsample_nearest2d_outf>(m);
  cpu::on_cpu<op::upsample_nearest2d_backward,
              op::upsample_nearest2d_backward_grad_input,
              meta::structured_upsample_nearest2d_backward,
              at::cpu::upsample_nearest2d_backward_outf>(m);
  cpu::on_cpu<op::upsample_nearest3d, op::upsample_nearest3d_out,
              meta::structured_upsample_nearest3d, at::cpu::upsample_nearest3d_outf>(m);
  cpu::on_cpu<op::upsample_nearest3d_backward,
              op::upsample_nearest3d_backward_grad_input,
              meta::structured_upsample_nearest3d_backward,
              at::cpu::upsample_nearest3d_backward_outf>(m);
}

}  // namespace openreg
