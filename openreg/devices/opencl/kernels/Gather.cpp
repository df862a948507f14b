// Operators that read elements by index along one dimension; see
// docs/opencl/kernels.md.
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/gather_ops.h>
#include <ATen/ops/index_select_ops.h>

#include "csrc/aten/meta/Indexing.h"
#include "csrc/kernels/IndexingSelection.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;

bool gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/,
            const Tensor& out) {
  return read_selected(along("gather", out, self, dim, index));
}

bool index_select(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& out) {
  return read_selected(slices("index_select", out, self, dim, index));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::gather, op::gather_out, at::meta::structured_gather>(
      m, gather);
  structured_or_fall_back<op::index_select, op::index_select_out, IndexSelect>(
      m, index_select);
}

}  // namespace
}  // namespace ocl::opencl
