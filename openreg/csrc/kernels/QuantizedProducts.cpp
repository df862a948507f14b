// Kernels of products with weights of 8 and 4 bits, and with float8; see
// docs/modules/quantization.md.
#include "csrc/aten/meta/QuantizedProducts.h"

#include <ATen/Operators.h>
#include <ATen/ops/_int_mm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;

// -- on the device --

// LITERALINCLUDE START: INT8PACK_MM_KERNEL
Tensor& weight_int8pack_mm(const Tensor& self, const Tensor& weight,
                           const Tensor& scales, Tensor& out) {
  const Tensor product = at::mm(self.to(at::kFloat), weight.to(at::kFloat).t());
  return out.copy_(product.mul_(scales));  // (1)
}
// LITERALINCLUDE END: INT8PACK_MM_KERNEL

// LITERALINCLUDE START: INT4PACK_MM_KERNEL
// Each byte of `packed` holds two neighbors of a row, the first in its upper half; a
// code c stands for (c - 8) * scale + zero, with one pair of numbers of
// `scales_and_zeros` [K / group_size, N, 2] for each `group_size` neighbors.
Tensor& weight_int4pack_mm(const Tensor& self, const Tensor& packed, int64_t group_size,
                           const Tensor& scales_and_zeros, Tensor& out) {
  const int64_t n = out.size(1), k = self.size(1);
  const Tensor bytes = packed.view(at::kByte).view({n, k / 2});
  const Tensor codes =
      at::stack({bytes.__rshift__(4), bytes.bitwise_and(15)}, -1);  // (1)
  const Tensor groups = codes.to(at::kFloat).sub_(8).view({n, -1, group_size});
  const Tensor pairs = scales_and_zeros.to(at::kFloat).transpose(0, 1);
  const Tensor scales = pairs.select(2, 0).unsqueeze(2);  // (2)
  const Tensor zeros = pairs.select(2, 1).unsqueeze(2);
  const Tensor weight = groups.mul(scales).add_(zeros).view({n, k});
  return out.copy_(at::mm(self.to(at::kFloat), weight.t()));
}
// LITERALINCLUDE END: INT4PACK_MM_KERNEL

// VENDOR: CUDA applies scale_result to results of float8. The CPU ignores it, and so
// does this function, which also ignores use_fast_accum.
Tensor& scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                  const Tensor& scale_b, const OptionalTensor& bias,
                  const OptionalTensor& /*scale_result*/, std::optional<at::ScalarType>,
                  bool /*use_fast_accum*/, Tensor& out) {
  Tensor product = at::mm(self.to(at::kFloat), mat2.to(at::kFloat));
  product.mul_(scale_a).mul_(scale_b);
  if (is_given(bias)) {
    product.add_(*bias);
  }
  return out.copy_(product);
}

}  // namespace

// LITERALINCLUDE START: REGISTER_QUANTIZED_PRODUCTS
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::_int_mm, op::_int_mm_out, IntMm, cpu::out_variant<at::_int_mm>>(m);
  cpu::on_cpu_without_out<op::_weight_int8pack_mm, WeightInt8packMm,
                          weight_int8pack_mm>(m);
  cpu::on_cpu_without_out<op::_weight_int4pack_mm, WeightInt4packMm,
                          weight_int4pack_mm>(m);
  cpu::on_cpu_without_out<op::_scaled_mm, ScaledMm, scaled_mm>(m);
}
// LITERALINCLUDE END: REGISTER_QUANTIZED_PRODUCTS

}  // namespace openreg
