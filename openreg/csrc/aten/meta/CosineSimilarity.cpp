// Meta functions of the cosine similarity; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/CosineSimilarity.h"

#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/result_type.h>

namespace openreg {

void CosineSimilarity::meta(const at::Tensor& x1, const at::Tensor& x2, int64_t dim,
                            double) {
  const at::ScalarType dtype = at::result_type(x1, x2);
  TORCH_CHECK(at::isFloatingType(dtype),
              "expected common dtype to be floating point, yet common dtype is ",
              dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(!at::isFloat8Type(dtype),
                              "\"norm_cpu\" not implemented for '", dtype, "'");
  at::DimVector sizes = at::infer_size_dimvector(x1.sizes(), x2.sizes());
  const int64_t axis = at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  if (!sizes.empty()) {
    sizes.erase(sizes.begin() + axis);
  }
  output(0, sizes, x1.options().dtype(dtype));
}

}  // namespace openreg
