// Meta functions of products with weights of 8 and 4 bits, and with float8; see
// docs/modules/quantization.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// self [M, K] times mat2 [K, N], in int32.
struct IntMm : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& mat2);
};

// self [M, K] times the transpose of weight [N, K], int8; each column times its number
// of `scales` [N].
struct WeightInt8packMm : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& scales);
};

// self [M, K] times the transpose of a weight [N, K] of 4 bits.
struct WeightInt4packMm : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& packed, int64_t group_size,
            const at::Tensor& scales_and_zeros);
};

// self [M, K] times mat2 [K, N], of float8, times both scales and plus the bias. A
// scale is one number, or [M, 1] and [1, N].
struct ScaledMm : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& scale_a,
            const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
            const std::optional<at::Tensor>& scale_result,
            std::optional<at::ScalarType> dtype, bool use_fast_accum);
};

}  // namespace openreg
