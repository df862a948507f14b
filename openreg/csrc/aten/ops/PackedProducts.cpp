// Products with weights of 4 bits and with float8; see docs/modules/four-bits.md.
#include "csrc/aten/ops/PackedProducts.h"

#include <ATen/ops/empty.h>

#include "csrc/aten/kernels/QuantizedProducts.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: INT4PACK
at::Tensor convert_weight_to_int4pack(const at::Tensor& self, int64_t inner_k_tiles) {
  TORCH_CHECK(
      self.dim() == 2 && self.scalar_type() == at::kByte,
      "openreg: _convert_weight_to_int4pack: expected Byte and [N, K / 2], two ",
      "codes in each byte, but got ", self.scalar_type(), " and ", self.sizes());
  const int64_t n = self.size(0), k = self.size(1) * 2;
  TORCH_CHECK(inner_k_tiles == 2 || inner_k_tiles == 4 || inner_k_tiles == 8,
              "openreg: _convert_weight_to_int4pack: innerKTiles must be 2, 4 or 8, ",
              "but is ", inner_k_tiles);
  TORCH_CHECK(n % 8 == 0 && k % (inner_k_tiles * 16) == 0,
              "openreg: _convert_weight_to_int4pack: N must be a multiple of 8, and K ",
              "of ", inner_k_tiles * 16, ", but they are ", n, " and ", k);
  at::Tensor packed =
      at::empty({n / 8, k / (inner_k_tiles * 16), 32, inner_k_tiles / 2},  // (1)
                self.options().dtype(at::kInt));
  packed.view(at::kByte).view(self.sizes()).copy_(self);  // (2)
  return packed;
}
// LITERALINCLUDE END: INT4PACK

void check_int4pack_mm(const at::Tensor& self, const at::Tensor& packed,
                       int64_t group_size, const at::Tensor& scales_and_zeros) {
  check_same_device("_weight_int4pack_mm", self, packed, scales_and_zeros);
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK(
      (dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16) &&
          packed.scalar_type() == at::kInt && scales_and_zeros.scalar_type() == dtype,
      "openreg: _weight_int4pack_mm: expected Float, Half or BFloat16, Int for ",
      "the weight, and scales of the first dtype, but got ", dtype, ", ",
      packed.scalar_type(), " and ", scales_and_zeros.scalar_type());
  TORCH_CHECK(self.dim() == 2 && packed.dim() == 4 && packed.is_contiguous() &&
                  packed.numel() * 8 == packed.size(0) * 8 * self.size(1),
              "openreg: _weight_int4pack_mm: expected [M, K] and what ",
              "_convert_weight_to_int4pack made of [N, K / 2], but got ", self.sizes(),
              " and ", packed.sizes());
  const int64_t n = packed.size(0) * 8, k = self.size(1);
  TORCH_CHECK(group_size > 0 && k % group_size == 0 &&
                  scales_and_zeros.sizes() == at::IntArrayRef({k / group_size, n, 2}),
              "openreg: _weight_int4pack_mm: expected a scale and a zero for each row ",
              "and each group of ", group_size, " of ", k, " numbers, [K / group, ", n,
              ", 2], but got ", scales_and_zeros.sizes());
}

at::Tensor weight_int4pack_mm(const at::Tensor& self, const at::Tensor& packed,
                              int64_t group_size, const at::Tensor& scales_and_zeros) {
  check_int4pack_mm(self, packed, group_size, scales_and_zeros);
  at::Tensor out = at::empty({self.size(0), packed.size(0) * 8}, self.options());
  if (out.numel() > 0) {
    launch("_weight_int4pack_mm", out.device(),
           [out = KernelTensorArg(out), self = KernelTensorArg::input(self),
            packed = KernelTensorArg::input(packed), group_size,
            pairs = KernelTensorArg::input(scales_and_zeros)] {
             kernels::weight_int4pack_mm(self.alias(), packed.alias(), group_size,
                                         pairs.alias(), out.alias());
           });
  }
  return out;
}

bool is_float8(const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  return dtype == at::kFloat8_e4m3fn || dtype == at::kFloat8_e5m2;
}

bool fits(const at::Tensor& scale, at::IntArrayRef rows) {
  return scale.scalar_type() == at::kFloat &&
         (scale.numel() == 1 || scale.sizes() == rows);
}

void check_scaled_mm(const at::Tensor& self, const at::Tensor& mat2,
                     const at::Tensor& scale_a, const at::Tensor& scale_b,
                     const at::Tensor& bias) {
  check_same_device("_scaled_mm", self, mat2, scale_a, scale_b, bias);
  TORCH_CHECK(is_float8(self) && is_float8(mat2),
              "openreg: _scaled_mm: expected two matrices of Float8_e4m3fn or ",
              "Float8_e5m2, but got ", self.scalar_type(), " and ", mat2.scalar_type());
  TORCH_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.size(1) == mat2.size(0),
              "openreg: _scaled_mm: expected [M, K] and [K, N], but got ", self.sizes(),
              " and ", mat2.sizes());
  TORCH_CHECK(
      fits(scale_a, {self.size(0), 1}) && fits(scale_b, {1, mat2.size(1)}),
      "openreg: _scaled_mm: expected scales of Float, one number each or [M, 1] ",
      "and [1, N], but got ", scale_a.scalar_type(), " ", scale_a.sizes(), " and ",
      scale_b.scalar_type(), " ", scale_b.sizes());
  TORCH_CHECK(!bias.defined() || bias.sizes() == at::IntArrayRef({mat2.size(1)}),
              "openreg: _scaled_mm: expected a bias of [N], but got ", bias.sizes());
}

// VENDOR: CUDA applies scale_result to results of float8. The CPU ignores it, and so
// does this function; it ignores use_fast_accum, too.
at::Tensor scaled_mm(const at::Tensor& self, const at::Tensor& mat2,
                     const at::Tensor& scale_a, const at::Tensor& scale_b,
                     const std::optional<at::Tensor>& maybe_bias,
                     const std::optional<at::Tensor>& /*scale_result*/,
                     std::optional<at::ScalarType> dtype, bool /*use_fast_accum*/) {
  const at::Tensor bias = or_undefined(maybe_bias);
  check_scaled_mm(self, mat2, scale_a, scale_b, bias);
  at::Tensor out = at::empty({self.size(0), mat2.size(1)},
                             self.options().dtype(dtype.value_or(self.scalar_type())));
  if (out.numel() > 0) {
    launch("_scaled_mm", out.device(),
           [out = KernelTensorArg(out), self = KernelTensorArg::input(self),
            mat2 = KernelTensorArg::input(mat2), a = KernelTensorArg::input(scale_a),
            b = KernelTensorArg::input(scale_b), bias = capture_input(bias)] {
             kernels::scaled_mm(self.alias(), mat2.alias(), a.alias(), b.alias(),
                                alias(bias), out.alias());
           });
  }
  return out;
}

}  // namespace

// LITERALINCLUDE START: REGISTER_PACKED_PRODUCTS
void register_packed_products(torch::Library& m) {
  m.impl("_convert_weight_to_int4pack", convert_weight_to_int4pack);
  m.impl("_weight_int4pack_mm", weight_int4pack_mm);
  m.impl("_scaled_mm", scaled_mm);
}
// LITERALINCLUDE END: REGISTER_PACKED_PRODUCTS

}  // namespace openreg
