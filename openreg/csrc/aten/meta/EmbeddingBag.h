// Meta functions of sums, means and maxima of embeddings; see
// docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// The sum, mean or maximum of the rows of each bag: bags x columns of `weight`. Then
// the bag of each index, the size of each bag, and the rows of the maxima.
struct EmbeddingBag : MetaFunction {
  void meta(const at::Tensor& weight, const at::Tensor& indices,
            const at::Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
            bool sparse, const std::optional<at::Tensor>& per_sample, bool include_last,
            int64_t padding_idx);

 protected:
  bool counts_end_ = false;  // also the size of a bag behind the last
};

// The same for inference: at::_embedding_bag_forward_only.
struct EmbeddingBagForwardOnly : EmbeddingBag {
  EmbeddingBagForwardOnly() { counts_end_ = true; }
};

struct EmbeddingBagDenseBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& indices,
            const at::Tensor& offset2bag, const at::Tensor& bag_size,
            const at::Tensor& maximum_indices, int64_t num_weights,
            bool scale_grad_by_freq, int64_t mode,
            const std::optional<at::Tensor>& per_sample, int64_t padding_idx);
};

struct EmbeddingBagWeightsBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& weight, const at::Tensor& indices,
            const at::Tensor& offsets, const at::Tensor& offset2bag, int64_t mode,
            int64_t padding_idx);
};

struct EmbeddingRenorm : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& indices, double max_norm,
            double norm_type);
};

}  // namespace openreg
