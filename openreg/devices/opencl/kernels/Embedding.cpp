// The gradient of an embedding, whose forward is index_select; see
// docs/opencl/kernels.md.
#include <ATen/ops/embedding_dense_backward_ops.h>

#include "csrc/aten/meta/Indexing.h"
#include "csrc/kernels/IndexingSelection.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Types.h"

namespace ocl::opencl {
namespace {

// The rows of `grad_output` whose index is `padding_idx` do not count, which takes no
// second kernel: their row of the result is zero.
bool embedding_dense_backward(const at::Tensor& grad_output, const at::Tensor& indices,
                              int64_t, int64_t padding_idx, bool scale_grad_by_freq,
                              const at::Tensor& out) {
  if (scale_grad_by_freq || !supports(out.scalar_type())) {
    return false;
  }
  out.zero_();
  const at::Tensor index = indices.reshape({-1});
  if (index.numel() > 0) {
    const at::Tensor grad = grad_output.reshape({index.numel(), out.size(1)});
    combine_selected(slices("embedding_dense_backward", grad, out, 0, index), "plus");
    if (padding_idx >= 0 && padding_idx < out.size(0)) {
      out.select(0, padding_idx).zero_();
    }
  }
  return true;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back_without_out<at::_ops::embedding_dense_backward,
                                      EmbeddingDenseBackward>(m,
                                                              embedding_dense_backward);
}

}  // namespace
}  // namespace ocl::opencl
