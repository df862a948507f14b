// Packs a weight of 4 bits for kernels; see docs/modules/four-bits.md.
#include <ATen/ops/empty.h>
#include <torch/library.h>

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

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_convert_weight_to_int4pack", convert_weight_to_int4pack);
}

}  // namespace openreg
