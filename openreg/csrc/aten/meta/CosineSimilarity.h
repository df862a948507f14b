// Meta functions of the cosine similarity; see docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct CosineSimilarity : MetaFunction {
  void meta(const at::Tensor& x1, const at::Tensor& x2, int64_t dim, double eps);
};

}  // namespace openreg
