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

#include "csrc/aten/kernels/Into.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::adaptive_max_pool2d, op::adaptive_max_pool2d_out,
             meta::structured_adaptive_max_pool2d, cpu::adaptive_max_pool2d_outf>(m);
  structured<op::adaptive_max_pool2d_backward,
             op::adaptive_max_pool2d_backward_grad_input,
             meta::structured_adaptive_max_pool2d_backward,
             cpu::adaptive_max_pool2d_backward_outf>(m);
  structured<op::avg_pool2d, op::avg_pool2d_out, meta::structured_avg_pool2d,
             cpu::avg_pool2d_outf>(m);
  structured<op::avg_pool2d_backward, op::avg_pool2d_backward_grad_input,
             meta::structured_avg_pool2d_backward, cpu::avg_pool2d_backward_outf>(m);
  structured<op::avg_pool3d, op::avg_pool3d_out, meta::structured_avg_pool3d,
             InFloat<at::avg_pool3d, cpu::avg_pool3d_outf>::write>(m);
  structured<op::avg_pool3d_backward, op::avg_pool3d_backward_grad_input,
             meta::structured_avg_pool3d_backward,
             InFloat<at::avg_pool3d_backward, cpu::avg_pool3d_backward_outf>::write>(m);
  structured<op::max_pool2d_with_indices, op::max_pool2d_with_indices_out,
             meta::structured_max_pool2d_with_indices,
             cpu::max_pool2d_with_indices_outf>(m);
  structured<op::max_pool2d_with_indices_backward,
             op::max_pool2d_with_indices_backward_grad_input,
             meta::structured_max_pool2d_with_indices_backward,
             cpu::max_pool2d_with_indices_backward_outf>(m);
  structured<op::reflection_pad1d, op::reflection_pad1d_out,
             meta::structured_reflection_pad1d, cpu::reflection_pad1d_outf>(m);
  structured<op::reflection_pad1d_backward, op::reflection_pad1d_backward_grad_input,
             meta::structured_reflection_pad1d_backward,
             cpu::reflection_pad1d_backward_outf>(m);
  structured<op::replication_pad1d, op::replication_pad1d_out,
             meta::structured_replication_pad1d, cpu::replication_pad1d_outf>(m);
  structured<op::replication_pad1d_backward, op::replication_pad1d_backward_grad_input,
             meta::structured_replication_pad1d_backward,
             cpu::replication_pad1d_backward_outf>(m);
  structured<op::upsample_linear1d, op::upsample_linear1d_out,
             meta::structured_upsample_linear1d, cpu::upsample_linear1d_outf>(m);
  structured<op::upsample_linear1d_backward, op::upsample_linear1d_backward_grad_input,
             meta::structured_upsample_linear1d_backward,
             cpu::upsample_linear1d_backward_outf>(m);
  structured<op::upsample_bilinear2d, op::upsample_bilinear2d_out,
             meta::structured_upsample_bilinear2d, cpu::upsample_bilinear2d_outf>(m);
  structured<op::upsample_bilinear2d_backward,
             op::upsample_bilinear2d_backward_grad_input,
             meta::structured_upsample_bilinear2d_backward,
             cpu::upsample_bilinear2d_backward_outf>(m);
  structured<op::upsample_bicubic2d, op::upsample_bicubic2d_out,
             meta::structured_upsample_bicubic2d, cpu::upsample_bicubic2d_outf>(m);
  structured<op::upsample_bicubic2d_backward,
             op::upsample_bicubic2d_backward_grad_input,
             meta::structured_upsample_bicubic2d_backward,
             cpu::upsample_bicubic2d_backward_outf>(m);
  structured<op::upsample_trilinear3d, op::upsample_trilinear3d_out,
             meta::structured_upsample_trilinear3d, cpu::upsample_trilinear3d_outf>(m);
  structured<op::upsample_trilinear3d_backward,
             op::upsample_trilinear3d_backward_grad_input,
             meta::structured_upsample_trilinear3d_backward,
             cpu::upsample_trilinear3d_backward_outf>(m);
  structured<op::upsample_nearest1d, op::upsample_nearest1d_out,
             meta::structured_upsample_nearest1d, cpu::upsample_nearest1d_outf>(m);
  structured<op::upsample_nearest1d_backward,
             op::upsample_nearest1d_backward_grad_input,
             meta::structured_upsample_nearest1d_backward,
             cpu::upsample_nearest1d_backward_outf>(m);
  structured<op::upsample_nearest2d, op::upsample_nearest2d_out,
             meta::structured_upsample_nearest2d, cpu::upsample_nearest2d_outf>(m);
  structured<op::upsample_nearest2d_backward,
             op::upsample_nearest2d_backward_grad_input,
             meta::structured_upsample_nearest2d_backward,
             cpu::upsample_nearest2d_backward_outf>(m);
  structured<op::upsample_nearest3d, op::upsample_nearest3d_out,
             meta::structured_upsample_nearest3d, cpu::upsample_nearest3d_outf>(m);
  structured<op::upsample_nearest3d_backward,
             op::upsample_nearest3d_backward_grad_input,
             meta::structured_upsample_nearest3d_backward,
             cpu::upsample_nearest3d_backward_outf>(m);
}

}  // namespace openreg
