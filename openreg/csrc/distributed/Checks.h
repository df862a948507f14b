// Checks the arguments of collectives before anything is sent; see
// docs/modules/distributed.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace openreg {

// ValueError unless all are contiguous tensors of one dtype on one openreg device, and
// there is at least one.
void check_tensors(const char* name, const std::vector<at::Tensor>& tensors);

// TypeError unless `op` can reduce tensors of this dtype.
void check_reduction(const char* name, const c10d::ReduceOp& op, at::ScalarType dtype);

// ValueError unless there is one tensor.
void check_single(const char* name, size_t tensors);

// ValueError unless there are `ranks` tensors, each as large as `one`.
void check_list(const char* name, const std::vector<at::Tensor>& list, int ranks,
                const at::Tensor& one);

// ValueError unless there are `ranks` tensors, and the one of `rank` is as large as
// `one`: each rank may have its own size.
void check_uneven_list(const char* name, const std::vector<at::Tensor>& list, int ranks,
                       int rank, const at::Tensor& one);

// ValueError unless `whole` has `ranks` times the elements of `part`.
void check_whole(const char* name, const at::Tensor& whole, int ranks,
                 const at::Tensor& part);

// ValueError unless `rank` is one of `ranks`.
void check_rank(const char* name, int64_t rank, int ranks);

// How many bytes of `tensor` belong to each rank: as many rows as `splits` says, or
// equal parts. ValueError if the rows cannot be divided evenly.
std::vector<int64_t> bytes_per_rank(const char* name, const at::Tensor& tensor,
                                    const std::vector<int64_t>& splits, int ranks);

}  // namespace openreg
