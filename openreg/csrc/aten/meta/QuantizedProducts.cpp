// Meta functions of products with weights of 8 and 4 bits, and with float8; see
// docs/modules/quantization.md.
#include "csrc/aten/meta/QuantizedProducts.h"

#include "csrc/aten/common/TensorArguments.h"

namespace openreg {
namespace {

bool is_float8(const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  return dtype == at::kFloat8_e4m3fn || dtype == at::kFloat8_e5m2;
}

bool fits(const at::Tensor& scale, at::IntArrayRef rows) {
  return scale.scalar_type() == at::kFloat &&
         (scale.numel() == 1 || scale.sizes() == rows);
}

}  // namespace

// LITERALINCLUDE START: INT_MM
void IntMm::meta(const at::Tensor& self, const at::Tensor& mat2) {
  TORCH_CHECK((self.scalar_type() == at::kChar || self.scalar_type() == at::kByte) &&
                  mat2.scalar_type() == at::kChar,
              "openreg: _int_mm: expected int8 or uint8, times int8, but got ",
              self.scalar_type(), " and ", mat2.scalar_type());
  TORCH_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.size(1) == mat2.size(0),
              "openreg: _int_mm: expected [M, K] and [K, N], but got ", self.sizes(),
              " and ", mat2.sizes());
  const std::array<int64_t, 2> sizes{self.size(0), mat2.size(1)};
  const at::Tensor& out = maybe_get_output(0);
  TORCH_CHECK(!out.defined() || (out.scalar_type() == at::kInt && out.sizes() == sizes),
              "openreg: _int_mm: out must be Int and ", at::IntArrayRef(sizes),
              ", but is ", out.scalar_type(), " and ", out.sizes());
  output(0, sizes, self.options().dtype(at::kInt));
}
// LITERALINCLUDE END: INT_MM

void WeightInt8packMm::meta(const at::Tensor& self, const at::Tensor& weight,
                            const at::Tensor& scales) {
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK((dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16) &&
                  weight.scalar_type() == at::kChar && scales.scalar_type() == dtype,
              "openreg: _weight_int8pack_mm: expected Float, Half or BFloat16, Char ",
              "for the weight, and scales with the dtype of self, but got ", dtype,
              ", ", weight.scalar_type(), " and ", scales.scalar_type());
  TORCH_CHECK(self.dim() == 2 && weight.dim() == 2 && scales.dim() == 1 &&
                  self.size(1) == weight.size(1) && scales.size(0) == weight.size(0),
              "openreg: _weight_int8pack_mm: expected [M, K], [N, K] and [N], but got ",
              self.sizes(), ", ", weight.sizes(), " and ", scales.sizes());
  output(0, {self.size(0), weight.size(0)}, self.options());
}

void WeightInt4packMm::meta(const at::Tensor& self, const at::Tensor& packed,
                            int64_t group_size, const at::Tensor& scales_and_zeros) {
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK(
      (dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16) &&
          packed.scalar_type() == at::kInt && scales_and_zeros.scalar_type() == dtype,
      "openreg: _weight_int4pack_mm: expected Float, Half or BFloat16, Int for ",
      "the weight, and scales with the dtype of self, but got ", dtype, ", ",
      packed.scalar_type(), " and ", scales_and_zeros.scalar_type());
  TORCH_CHECK(self.dim() == 2 && packed.dim() == 4 && packed.is_contiguous() &&
                  packed.numel() * 8 == packed.size(0) * 8 * self.size(1),
              "openreg: _weight_int4pack_mm: expected [M, K] and the ",
              "result of _convert_weight_to_int4pack for [N, K / 2], but got ",
              self.sizes(), " and ", packed.sizes());
  const int64_t n = packed.size(0) * 8, k = self.size(1);
  TORCH_CHECK(group_size > 0 && k % group_size == 0 &&
                  scales_and_zeros.sizes() == at::IntArrayRef({k / group_size, n, 2}),
              "openreg: _weight_int4pack_mm: expected a scale and a zero for each row ",
              "and each group of ", group_size, " of ", k, " numbers, [K / group, ", n,
              ", 2], but got ", scales_and_zeros.sizes());
  output(0, {self.size(0), n}, self.options());
}

void ScaledMm::meta(const at::Tensor& self, const at::Tensor& mat2,
                    const at::Tensor& scale_a, const at::Tensor& scale_b,
                    const std::optional<at::Tensor>& bias,
                    const std::optional<at::Tensor>&,
                    std::optional<at::ScalarType> dtype, bool) {
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
  TORCH_CHECK(!is_given(bias) || bias->sizes() == at::IntArrayRef({mat2.size(1)}),
              "openreg: _scaled_mm: expected a bias of [N], but got ",
              or_undefined(bias).sizes());
  output(0, {self.size(0), mat2.size(1)},
         self.options().dtype(dtype.value_or(self.scalar_type())));
}

}  // namespace openreg
