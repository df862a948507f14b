// Kernels of products with weights of 8 bits; see docs/modules/quantization.md.
#include "csrc/aten/kernels/QuantizedProducts.h"

#include <ATen/ops/_int_mm.h>
#include <ATen/ops/mm.h>

namespace openreg::kernels {

void int_mm(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out) {
  out.copy_(at::_int_mm(self, mat2));
}

// LITERALINCLUDE START: INT8PACK_MM_KERNEL
void weight_int8pack_mm(const at::Tensor& self, const at::Tensor& weight,
                        const at::Tensor& scales, const at::Tensor& out) {
  const at::Tensor product = at::mm(self.to(at::kFloat), weight.to(at::kFloat).t());
  out.copy_(product.mul_(scales));  // (1)
}
// LITERALINCLUDE END: INT8PACK_MM_KERNEL

}  // namespace openreg::kernels
