// Concatenation: a copy for each input; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat_meta.h>

#include "csrc/aten/structured/Structured.h"

namespace ocl::opencl::cat {
namespace {

// The copy has every dtype and layout, so nothing falls back.
void cat(const at::ITensorListRef& tensors, int64_t dim, at::Tensor& out) {
  const int64_t along = at::legacy_cat_wrap_dim(dim, tensors.materialize());
  int64_t start = 0;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.dim() == 1 && tensor.numel() == 0) {
      continue;  // fits to tensors of any size
    }
    const int64_t size = tensor.size(along);
    out.narrow(along, start, size).copy_(tensor);
    start += size;
  }
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<at::_ops::cat, at::_ops::cat_out, at::meta::structured_cat>(m, cat);
}

}  // namespace
}  // namespace ocl::opencl::cat
