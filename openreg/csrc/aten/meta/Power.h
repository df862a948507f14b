// The meta function of a power with a number as exponent; see
// docs/operators/meta-functions.md.
#pragma once

#include <ATen/ops/pow_meta.h>

#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {

// Torch's meta function leaves it to the kernel to convert the exponent.
struct PowTensorScalar : at::meta::structured_pow_Tensor_Scalar {
  void meta(const at::Tensor& self, const at::Scalar& exponent) {
    structured_pow_Tensor_Scalar::meta(self, exponent);
    const at::ScalarType dtype = common_dtype();
    if (dtype != at::kFloat && dtype != at::kDouble && !at::isComplexType(dtype)) {
      check_scalar(exponent, dtype);
    }
  }
};

}  // namespace openreg
