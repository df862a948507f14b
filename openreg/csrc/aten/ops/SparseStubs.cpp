// Fills the dispatch stubs of sparse tensors; see docs/operators/sparse-training.md.
#include "csrc/aten/ops/SparseStubs.h"

#include <ATen/ops/empty.h>

#include "csrc/aten/kernels/SparseStubs.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/SparseKernelTensorArg.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: FLATTEN_INDICES
// Each column of `indices` as one number. The result has as many elements as there are
// columns, so the host need not wait.
at::Tensor flatten_kernel(const at::Tensor& indices, at::IntArrayRef size) {
  TORCH_CHECK(indices.dim() > 1 && indices.size(0) == static_cast<int64_t>(size.size()),
              "flatten_indices: indices of shape ", indices.sizes(),
              " do not belong to a tensor of ", size.size(), " sparse dimensions");
  const at::Tensor out =
      at::empty({indices.size(1)}, indices.options().dtype(at::kLong));
  if (out.numel() > 0) {
    launch("flatten_indices", indices.device(),
           [in = KernelTensorArg::input(indices), to = KernelTensorArg(out),
            sizes = c10::SmallVector<int64_t, 5>(size)] {
             kernels::flatten_indices(in.alias(), sizes, to.alias());
           });
  }
  return out;
}
// LITERALINCLUDE END: FLATTEN_INDICES

std::optional<SparseKernelTensorArg> capture_sparse(
    const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? std::make_optional(SparseKernelTensorArg::input(*tensor))
                            : std::nullopt;
}

std::optional<at::Tensor> if_captured(
    const std::optional<SparseKernelTensorArg>& tensor) {
  return tensor.has_value() ? std::make_optional(tensor->alias()) : std::nullopt;
}

void mask_kernel(at::Tensor& res, const at::Tensor& x, const at::Tensor& y,
                 const std::optional<at::Tensor>& x_hash) {
  launch_and_wait_into(
      "sparse_mask", res,
      [dtype = res.scalar_type(), x = SparseKernelTensorArg::input(x),
       y = SparseKernelTensorArg::input(y), hash = capture_sparse(x_hash)] {
        return kernels::sparse_mask(x.alias(), y.alias(), if_captured(hash), dtype);
      });
}

void project_kernel(at::Tensor& res, const at::Tensor& x, const at::Tensor& y,
                    const std::optional<at::Tensor>& x_hash, bool accumulate_matches) {
  launch_and_wait_into("_sparse_mask_projection", res,
                       [dtype = res.scalar_type(), x = SparseKernelTensorArg::input(x),
                        y = SparseKernelTensorArg::input(y),
                        hash = capture_sparse(x_hash), accumulate_matches] {
                         return kernels::sparse_mask_projection(
                             x.alias(), y.alias(), if_captured(hash),
                             accumulate_matches, dtype);
                       });
}

}  // namespace
}  // namespace openreg

// LITERALINCLUDE START: FILL_SPARSE_STUBS
namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(flatten_indices_stub, openreg::flatten_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(sparse_mask_intersection_out_stub, openreg::mask_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(sparse_mask_projection_out_stub, openreg::project_kernel)
}  // namespace at::native
// LITERALINCLUDE END: FILL_SPARSE_STUBS
