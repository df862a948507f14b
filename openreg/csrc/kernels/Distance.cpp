// Distances between rows; see docs/operators/structured.md.
#include "csrc/aten/meta/Distance.h"

#include <ATen/Operators.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/_pdist_backward.h>
#include <ATen/ops/_pdist_forward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::_cdist_forward, Cdist,
                          cpu::out_variant<at::_cdist_forward>>(m);
  cpu::on_cpu_without_out<op::_cdist_backward, CdistBackward,
                          cpu::out_variant<at::_cdist_backward>>(m);
  cpu::on_cpu_without_out<op::_pdist_forward, Pdist,
                          cpu::out_variant<at::_pdist_forward>>(m);
  cpu::on_cpu_without_out<op::_pdist_backward, PdistBackward,
                          cpu::out_variant<at::_pdist_backward>>(m);
}

}  // namespace openreg
