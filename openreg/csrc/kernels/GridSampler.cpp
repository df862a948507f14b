// Samples images at the places of a grid; see docs/operators/structured.md.
#include "csrc/aten/meta/GridSampler.h"

#include <ATen/Operators.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>
#include <ATen/ops/grid_sampler_3d.h>
#include <ATen/ops/grid_sampler_3d_backward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::grid_sampler_2d, GridSampler<2>,
                          cpu::out_variant<at::grid_sampler_2d>>(m);
  cpu::on_cpu_without_out<op::grid_sampler_3d, GridSampler<3>,
                          cpu::out_variant<at::grid_sampler_3d>>(m);
  cpu::on_cpu_without_out<op::grid_sampler_2d_backward, GridSamplerBackward<2>,
                          cpu::out_variant<at::grid_sampler_2d_backward>>(m);
  cpu::on_cpu_without_out<op::grid_sampler_3d_backward, GridSamplerBackward<3>,
                          cpu::out_variant<at::grid_sampler_3d_backward>>(m);
}

}  // namespace openreg
