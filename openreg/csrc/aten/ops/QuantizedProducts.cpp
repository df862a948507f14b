// Matrix products with weights of 8 bits; see docs/modules/quantization.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/empty.h>

#include <array>

#include "csrc/aten/kernels/QuantizedProducts.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/PackedProducts.h"

namespace openreg {
namespace {

void check_int_mm(const at::Tensor& self, const at::Tensor& mat2) {
  check_same_device("_int_mm", self, mat2);
  TORCH_CHECK((self.scalar_type() == at::kChar || self.scalar_type() == at::kByte) &&
                  mat2.scalar_type() == at::kChar,
              "openreg: _int_mm: expected int8 or uint8, times int8, but got ",
              self.scalar_type(), " and ", mat2.scalar_type());
  TORCH_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.size(1) == mat2.size(0),
              "openreg: _int_mm: expected [M, K] and [K, N], but got ", self.sizes(),
              " and ", mat2.sizes());
}

// LITERALINCLUDE START: INT_MM
void launch_int_mm(const at::Tensor& self, const at::Tensor& mat2,
                   const at::Tensor& out) {
  if (out.numel() > 0) {
    launch("_int_mm", out.device(),
           [out = KernelTensorArg(out), self = KernelTensorArg::input(self),
            mat2 = KernelTensorArg::input(mat2)] {
             kernels::int_mm(self.alias(), mat2.alias(), out.alias());  // (1)
           });
  }
}

at::Tensor int_mm(const at::Tensor& self, const at::Tensor& mat2) {
  check_int_mm(self, mat2);
  at::Tensor out = at::empty({self.size(0), mat2.size(1)},
                             self.options().dtype(at::kInt));  // (2)
  launch_int_mm(self, mat2, out);
  return out;
}
// LITERALINCLUDE END: INT_MM

at::Tensor& int_mm_out(const at::Tensor& self, const at::Tensor& mat2,
                       at::Tensor& out) {
  check_int_mm(self, mat2);
  check_same_device("_int_mm", self, out);
  const std::array<int64_t, 2> sizes{self.size(0), mat2.size(1)};
  TORCH_CHECK(out.scalar_type() == at::kInt && out.sizes() == at::IntArrayRef(sizes),
              "openreg: _int_mm: out must be Int and ", at::IntArrayRef(sizes),
              ", but is ", out.scalar_type(), " and ", out.sizes());
  launch_int_mm(self, mat2, out);
  return out;
}

at::Tensor weight_int8pack_mm(const at::Tensor& self, const at::Tensor& weight,
                              const at::Tensor& scales) {
  check_same_device("_weight_int8pack_mm", self, weight, scales);
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK((dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16) &&
                  weight.scalar_type() == at::kChar && scales.scalar_type() == dtype,
              "openreg: _weight_int8pack_mm: expected Float, Half or BFloat16, Char ",
              "for the weight, and scales of the first dtype, but got ", dtype, ", ",
              weight.scalar_type(), " and ", scales.scalar_type());
  TORCH_CHECK(self.dim() == 2 && weight.dim() == 2 && scales.dim() == 1 &&
                  self.size(1) == weight.size(1) && scales.size(0) == weight.size(0),
              "openreg: _weight_int8pack_mm: expected [M, K], [N, K] and [N], but got ",
              self.sizes(), ", ", weight.sizes(), " and ", scales.sizes());
  at::Tensor out = at::empty({self.size(0), weight.size(0)}, self.options());
  if (out.numel() > 0) {
    launch("_weight_int8pack_mm", out.device(),
           [out = KernelTensorArg(out), self = KernelTensorArg::input(self),
            weight = KernelTensorArg::input(weight),
            scales = KernelTensorArg::input(scales)] {
             kernels::weight_int8pack_mm(self.alias(), weight.alias(), scales.alias(),
                                         out.alias());
           });
  }
  return out;
}

}  // namespace

// LITERALINCLUDE START: REGISTER_QUANTIZED_PRODUCTS
void register_quantized_products(torch::Library& m) {
  m.impl("_int_mm", int_mm);
  m.impl("_int_mm.out", int_mm_out);
  m.impl("_weight_int8pack_mm", weight_int8pack_mm);
  register_packed_products(m);  // of 4 bits, and of float8
}
// LITERALINCLUDE END: REGISTER_QUANTIZED_PRODUCTS

}  // namespace openreg
