// Kernels behind the stubs of sparse tensors; see docs/operators/sparse-training.md.
#include "csrc/aten/kernels/SparseStubs.h"

#include <ATen/ops/empty.h>

#include "csrc/aten/ops/SparseStubs.h"

namespace openreg::kernels {
namespace {

at::Tensor empty_coo(at::ScalarType dtype) {
  return at::empty({0}, at::TensorOptions().dtype(dtype).layout(at::kSparse));
}

}  // namespace

void flatten_indices(const at::Tensor& indices, at::IntArrayRef size,
                     const at::Tensor& out) {
  out.copy_(at::native::flatten_indices_stub.DEFAULT(indices, size));
}

at::Tensor sparse_mask(const at::Tensor& x, const at::Tensor& y,
                       const std::optional<at::Tensor>& x_hash, at::ScalarType dtype) {
  at::Tensor masked = empty_coo(dtype);
  at::native::sparse_mask_intersection_out_stub.DEFAULT(masked, x, y, x_hash);
  return masked;
}

at::Tensor sparse_mask_projection(const at::Tensor& x, const at::Tensor& y,
                                  const std::optional<at::Tensor>& x_hash,
                                  bool accumulate_matches, at::ScalarType dtype) {
  at::Tensor projected = empty_coo(dtype);
  at::native::sparse_mask_projection_out_stub.DEFAULT(projected, x, y, x_hash,
                                                      accumulate_matches);
  return projected;
}

}  // namespace openreg::kernels
