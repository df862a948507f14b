// Operators that read or write elements by index or mask; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

using IndexList = c10::List<std::optional<at::Tensor>>;

// Warns, as the CPU does, if elements of `self`, which `name` writes, share memory: the
// result depends on the order. `also`: the end of the sentence.
void warn_of_expanded(const char* name, const at::Tensor& self, const char* also);

at::Tensor index(const at::Tensor& self, const IndexList& indices);
at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out);
at::Tensor& index_put_impl_(at::Tensor& self, const IndexList& indices,
                            const at::Tensor& values, bool accumulate, bool unsafe);
at::Tensor index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index);
at::Tensor& index_select_out(const at::Tensor& self, int64_t dim,
                             const at::Tensor& index, at::Tensor& out);
at::Tensor embedding_dense_backward(const at::Tensor& grad_output,
                                    const at::Tensor& indices, int64_t num_weights,
                                    int64_t padding_idx, bool scale_grad_by_freq);
at::Tensor& masked_fill_scalar_(at::Tensor& self, const at::Tensor& mask,
                                const at::Scalar& value);
at::Tensor& masked_fill_tensor_(at::Tensor& self, const at::Tensor& mask,
                                const at::Tensor& value);

// As on CUDA: an index that is a mask. The host waits for the number of elements.
at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask);
at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask,
                              at::Tensor& out);

// The number of rows is known only when the device has counted: the host waits.
at::Tensor nonzero(const at::Tensor& self);
at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out);

}  // namespace openreg
