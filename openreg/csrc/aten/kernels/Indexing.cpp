// A kernel that counts elements; see
// docs/operators/structured.md.
#include "csrc/aten/kernels/Indexing.h"

#include <ATen/ops/ne.h>
#include <ATen/ops/sum.h>

namespace openreg::kernels {

// The CPU's own operator takes fewer dtypes than CUDA's.
at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dim) {
  return at::ne(self, 0).sum(dim);
}

}  // namespace openreg::kernels
