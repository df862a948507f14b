// Fills the dispatch stubs of sparse tensors; see docs/operators/sparse.md.
#include <ATen/native/DispatchStub.h>
#include <ATen/ops/empty.h>

#include <optional>

#include "csrc/kernels/cpu/LaunchAndWait.h"

// LITERALINCLUDE START: SPARSE_STUBS
// libtorch_cpu.so exports these stubs, but their header, native/sparse/SparseStubs.h of
// torch's sources, is not installed. The types are part of the exported names.
namespace at::native {
using flatten_indices_fn = Tensor (*)(const Tensor& indices, IntArrayRef size);
using sparse_mask_intersection_out_fn = void (*)(Tensor& res, const Tensor& x,
                                                 const Tensor& y,
                                                 const std::optional<Tensor>& x_hash);
using sparse_mask_projection_out_fn = void (*)(Tensor& res, const Tensor& x,
                                               const Tensor& y,
                                               const std::optional<Tensor>& x_hash,
                                               bool accumulate_matches);
DECLARE_DISPATCH(flatten_indices_fn, flatten_indices_stub)
DECLARE_DISPATCH(sparse_mask_intersection_out_fn, sparse_mask_intersection_out_stub)
DECLARE_DISPATCH(sparse_mask_projection_out_fn, sparse_mask_projection_out_stub)
}  // namespace at::native
// LITERALINCLUDE END: SPARSE_STUBS

namespace openreg {
namespace {

using at::Tensor;

// LITERALINCLUDE START: FLATTEN_INDICES
// Each column of `indices` as one number: the position of that element in a contiguous
// tensor. The result has as many elements as there are columns, so the host need not
// wait.
Tensor flatten_kernel(const Tensor& indices, at::IntArrayRef size) {
  TORCH_CHECK(indices.dim() > 1 && indices.size(0) == static_cast<int64_t>(size.size()),
              "flatten_indices: indices of shape ", indices.sizes(),
              " do not match a tensor with ", size.size(), " sparse dimensions");
  const Tensor out = at::empty({indices.size(1)}, indices.options().dtype(at::kLong));
  if (out.numel() > 0) {
    cpu::launch(
        "flatten_indices",
        [](const Tensor& in, at::IntArrayRef sizes, Tensor& to) {
          to.copy_(at::native::flatten_indices_stub.DEFAULT(in, sizes));
        },
        indices, size, out);
  }
  return out;
}
// LITERALINCLUDE END: FLATTEN_INDICES

Tensor empty_coo(at::ScalarType dtype) {
  return at::empty({0}, at::TensorOptions().dtype(dtype).layout(at::kSparse));
}

// Makes of `res` a COO tensor with the indices of `y`. Each value is the sum of the
// values that `x` has there, or zero. `x_hash` is what flatten_kernel() gives for `x`,
// if it is known.
void mask_kernel(Tensor& res, const Tensor& x, const Tensor& y,
                 const std::optional<Tensor>& x_hash) {
  cpu::launch_and_bring_into(
      "sparse_mask", res,
      [](const Tensor& a, const Tensor& mask, const std::optional<Tensor>& hash,
         at::ScalarType dtype) {
        Tensor masked = empty_coo(dtype);
        at::native::sparse_mask_intersection_out_stub.DEFAULT(masked, a, mask, hash);
        return masked;
      },
      x, y, x_hash, res.scalar_type());
}

// Makes of `res` a COO tensor with the indices and the values of `y`; values where `x`
// has no element are zero. With `accumulate_matches`, each value is multiplied by the
// number of elements that `x` has there.
void project_kernel(Tensor& res, const Tensor& x, const Tensor& y,
                    const std::optional<Tensor>& x_hash, bool accumulate_matches) {
  cpu::launch_and_bring_into(
      "_sparse_mask_projection", res,
      [](const Tensor& a, const Tensor& mask, const std::optional<Tensor>& hash,
         bool accumulate, at::ScalarType dtype) {
        Tensor projected = empty_coo(dtype);
        at::native::sparse_mask_projection_out_stub.DEFAULT(projected, a, mask, hash,
                                                            accumulate);
        return projected;
      },
      x, y, x_hash, accumulate_matches, res.scalar_type());
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
