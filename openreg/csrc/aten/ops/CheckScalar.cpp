// Rejects a number that a kernel cannot convert; see docs/operators/meta-functions.md.
#include "csrc/aten/ops/CheckScalar.h"

#include <ATen/Dispatch_v2.h>

namespace openreg {

void check_scalar(const c10::Scalar& value, c10::ScalarType dtype) {
  AT_DISPATCH_V2(dtype, "openreg", AT_WRAP([&] { value.to<scalar_t>(); }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_FLOAT8_TYPES),
                 AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kBool, at::kHalf,
                 at::kBFloat16, at::kComplexHalf);
}

}  // namespace openreg
