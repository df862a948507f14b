// Sums, means and maxima of embeddings; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg::kernels {

// Writes the sum, mean or maximum of the rows of each bag: bags x columns of `weight`.
// Also writes the bag of each index, the size of each bag and the rows of the maxima,
// except to outputs without elements.
std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&> embedding_bag_out(
    const at::Tensor& weight, const at::Tensor& indices, const at::Tensor& offsets,
    bool scale_grad_by_freq, int64_t mode, bool sparse,
    const std::optional<at::Tensor>& per_sample, bool include_last, int64_t padding_idx,
    at::Tensor& output, at::Tensor& bags, at::Tensor& bag_size, at::Tensor& places);

// The same for inference: at::_embedding_bag_forward_only.
std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&>
embedding_bag_forward_only_out(const at::Tensor& weight, const at::Tensor& indices,
                               const at::Tensor& offsets, bool scale_grad_by_freq,
                               int64_t mode, bool sparse,
                               const std::optional<at::Tensor>& per_sample,
                               bool include_last, int64_t padding_idx,
                               at::Tensor& output, at::Tensor& bags,
                               at::Tensor& bag_size, at::Tensor& places);

// Scales in place the rows of `weight` that `indices` lists to a norm of at most
// `max_norm`.
at::Tensor& embedding_renorm_out(const at::Tensor& indices, double max_norm,
                                 double norm_type, at::Tensor& weight);

}  // namespace openreg::kernels
