// Kernels of products with weights of 8 and 4 bits; see docs/modules/quantization.md.
#include "csrc/aten/kernels/QuantizedProducts.h"

#include <ATen/ops/_int_mm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

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

// LITERALINCLUDE START: INT4PACK_MM_KERNEL
void weight_int4pack_mm(const at::Tensor& self, const at::Tensor& packed,
                        int64_t group_size, const at::Tensor& scales_and_zeros,
                        const at::Tensor& out) {
  const int64_t n = out.size(1), k = self.size(1);
  const at::Tensor bytes = packed.view(at::kByte).view({n, k / 2});
  const at::Tensor codes =
      at::stack({bytes.__rshift__(4), bytes.bitwise_and(15)}, -1);  // (1)
  const at::Tensor groups = codes.to(at::kFloat).sub_(8).view({n, -1, group_size});
  const at::Tensor pairs = scales_and_zeros.to(at::kFloat).transpose(0, 1);
  const at::Tensor scales = pairs.select(2, 0).unsqueeze(2);  // (2)
  const at::Tensor zeros = pairs.select(2, 1).unsqueeze(2);
  const at::Tensor weight = groups.mul(scales).add_(zeros).view({n, k});
  out.copy_(at::mm(self.to(at::kFloat), weight.t()));
}
// LITERALINCLUDE END: INT4PACK_MM_KERNEL

void scaled_mm(const at::Tensor& self, const at::Tensor& mat2,
               const at::Tensor& scale_a, const at::Tensor& scale_b,
               const at::Tensor& bias, const at::Tensor& out) {
  at::Tensor product = at::mm(self.to(at::kFloat), mat2.to(at::kFloat));
  product.mul_(scale_a).mul_(scale_b);
  if (bias.defined()) {
    product.add_(bias);
  }
  out.copy_(product);
}

}  // namespace openreg::kernels
