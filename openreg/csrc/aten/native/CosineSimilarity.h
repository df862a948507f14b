// An operator with a backward of its own; see docs/operators/autograd.md.
#pragma once

#include <ATen/core/Tensor.h>

// The signatures are those of the schema in native_functions.yaml.
namespace openreg {

at::Tensor cosine_similarity(const at::Tensor& x1, const at::Tensor& x2, int64_t dim,
                             double eps);
at::Tensor cosine_similarity_autograd(const at::Tensor& x1, const at::Tensor& x2,
                                      int64_t dim, double eps);

}  // namespace openreg
