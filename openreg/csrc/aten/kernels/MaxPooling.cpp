// The inverse of maximum pooling; see docs/operators/structured.md.
#include "csrc/aten/kernels/MaxPooling.h"

#include <ATen/ops/max_unpool2d.h>
#include <ATen/ops/max_unpool3d.h>

#include "csrc/kernels/cpu/Quiet.h"

// Both are quiet: the host has warned already, if the program asked for it.
namespace openreg::kernels {

at::Tensor& max_unpool2d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::Tensor& out) {
  const cpu::Quiet quiet;
  return out.copy_(at::max_unpool2d(self, indices, output_size));
}

at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::Tensor& out) {
  const cpu::Quiet quiet;
  return out.copy_(at::max_unpool3d(self, indices, output_size, stride, padding));
}

}  // namespace openreg::kernels
