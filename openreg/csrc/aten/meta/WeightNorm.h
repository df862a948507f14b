// Meta functions of weight normalization; see docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct WeightNorm : MetaFunction {
  void meta(const at::Tensor& v, const at::Tensor& g, int64_t dim);
};

struct WeightNormBackward : MetaFunction {
  void meta(const at::Tensor& grad_w, const at::Tensor& saved_v,
            const at::Tensor& saved_g, const at::Tensor& saved_norms, int64_t dim);
};

}  // namespace openreg
