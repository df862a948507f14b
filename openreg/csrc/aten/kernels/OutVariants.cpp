// Functions with out= that ATen's CPU library lacks; see docs/operators/stub.md.
#include "csrc/aten/kernels/OutVariants.h"

#include <ATen/CPUFunctions.h>
#include <ATen/ops/_prelu_kernel.h>

#include "csrc/kernels/cpu/Quiet.h"

namespace openreg::kernels {

at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  return self.scalar_type() == at::kBool ? out.copy_(self)
                                         : at::cpu::abs_outf(self, out);
}

at::Tensor& hardswish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                                   at::Tensor& out) {
  return out.copy_(at::cpu::hardswish_backward(grad, self));
}

at::Tensor& mish_backward_out(const at::Tensor& grad, const at::Tensor& self,
                              at::Tensor& out) {
  return out.copy_(at::cpu::mish_backward(grad, self));
}

at::Tensor& prelu_out(const at::Tensor& self, const at::Tensor& weight,
                      at::Tensor& out) {
  return out.copy_(at::_prelu_kernel(self, weight));
}

at::Tensor& addr_out(const at::Tensor& self, const at::Tensor& column,
                     const at::Tensor& row, const at::Scalar& beta,
                     const at::Scalar& alpha, at::Tensor& out) {
  return at::cpu::addr_outf(self, column.flatten(), row.flatten(), beta, alpha, out);
}

at::Tensor& put_out(const at::Tensor& index, const at::Tensor& source, bool add,
                    at::Tensor& out) {
  const cpu::Quiet quiet;  // the host has warned already
  return out.put_(index, source, add);
}

at::Tensor& adaptive_max_pool3d_backward_out(const at::Tensor& grad,
                                             const at::Tensor& self,
                                             const at::Tensor& indices,
                                             at::Tensor& out) {
  return at::cpu::adaptive_max_pool3d_backward_outf(grad, self, indices.contiguous(),
                                                    out);
}

}  // namespace openreg::kernels
