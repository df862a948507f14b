// Kernels of products with weights of 8 bits; see docs/modules/quantization.md.
#include "csrc/aten/kernels/QuantizedProducts.h"

#include <ATen/ops/_int_mm.h>
#include <ATen/ops/_weight_int8pack_mm.h>
#include <ATen/ops/mm.h>

namespace openreg::kernels {

void int_mm(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out) {
  out.copy_(at::_int_mm(self, mat2));
}

// LITERALINCLUDE START: INT8PACK_MM_KERNEL
void weight_int8pack_mm(const at::Tensor& self, const at::Tensor& weight,
                        const at::Tensor& scales, const at::Tensor& out) {
  // ATen's bfloat16 kernel loads 16 numbers at once, and does not stop at the end of a
  // row: it adds numbers that are not of the row, or ends in a segmentation fault.
  if (self.scalar_type() == at::kBFloat16 && self.size(1) % 16 != 0) {
    const at::Tensor product = at::mm(self.to(at::kFloat), weight.to(at::kFloat).t());
    out.copy_(product.mul_(scales));
    return;
  }
  // It reads all three tensors as if they were contiguous.
  out.copy_(at::_weight_int8pack_mm(self.contiguous(), weight.contiguous(),
                                    scales.contiguous()));
}
// LITERALINCLUDE END: INT8PACK_MM_KERNEL

}  // namespace openreg::kernels
