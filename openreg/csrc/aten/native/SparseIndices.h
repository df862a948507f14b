// Indices of compressed tensors, which are dense; see docs/operators/layouts.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg {

at::Tensor coo_to_csr_indices(const at::Tensor& self, int64_t size, bool out_int32);
at::Tensor csr_to_coo_indices(const at::Tensor& compressed, const at::Tensor& plain,
                              bool out_int32, bool transpose);

// Throws unless the indices are those of a compressed tensor. Torch asks where a
// program wants the invariants of sparse tensors checked; the host waits for the
// answer.
void validate_compressed_indices(bool is_crow, const at::Tensor& compressed,
                                 const at::Tensor& plain, int64_t compressed_dim,
                                 int64_t dim, int64_t nnz);

}  // namespace openreg
