// Declares the dispatch stubs of sparse tensors; see docs/operators/sparse-training.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>

#include <optional>

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
