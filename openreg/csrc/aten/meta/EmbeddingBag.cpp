// Meta functions of sums, means and maxima of embeddings; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/EmbeddingBag.h"

#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_embedding_bag_per_sample_weights_backward.h>
#include <ATen/ops/embedding_renorm.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using Weights = std::optional<at::Tensor>;

constexpr int64_t kSum = 0;
constexpr int64_t kMax = 2;

bool is_index(const at::Tensor& tensor) {
  return tensor.dim() == 1 &&
         (tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt);
}

bool fit(const at::Tensor& weight, const at::Tensor& indices, const at::Tensor& offsets,
         int64_t mode, const Weights& per_sample, bool include_last) {
  return weight.dim() == 2 && is_index(indices) && is_index(offsets) && mode >= kSum &&
         mode <= kMax && (!include_last || offsets.size(0) > 0) &&
         (!is_given(per_sample) || (mode == kSum && per_sample->dim() == 1 &&
                                    per_sample->numel() == indices.numel() &&
                                    per_sample->scalar_type() == weight.scalar_type()));
}

// ATen's library has faster sums, which need no list of the bag of each index; then
// that list is empty, and the backward makes it.
bool has_fast_sum(const at::Tensor& weight, int64_t mode, const Weights& per_sample,
                  int64_t padding_idx) {
  const at::ScalarType dtype = weight.scalar_type();
  return mode == kSum && padding_idx < 0 && weight.stride(1) == 1 &&
         (dtype == at::kFloat || dtype == at::kHalf || dtype == at::kBFloat16) &&
         (!is_given(per_sample) || per_sample->stride(0) == 1);
}

}  // namespace

void EmbeddingBag::meta(const at::Tensor& weight, const at::Tensor& indices,
                        const at::Tensor& offsets, bool scale_grad_by_freq,
                        int64_t mode, bool sparse, const Weights& per_sample,
                        bool include_last, int64_t padding_idx) {
  check_arguments(fit(weight, indices, offsets, mode, per_sample, include_last), [&] {
    at::_embedding_bag(zeros_for(weight), zeros_for(indices), zeros_for(offsets),
                       scale_grad_by_freq, mode, sparse, zeros_for(per_sample),
                       include_last, padding_idx);
  });
  const int64_t bags = offsets.size(0) - (include_last ? 1 : 0);
  const auto index = offsets.options().dtype(
      c10::promoteTypes(offsets.scalar_type(), indices.scalar_type()));
  const c10::DimVector sizes{bags, weight.size(1)};
  const bool fast = has_fast_sum(weight, mode, per_sample, padding_idx);
  const int64_t counts = counts_end_ && mode == kSum ? offsets.size(0) : bags;
  output(0, sizes, weight.options());
  output(1, {fast ? 0 : indices.size(0)}, index);
  output(2, {counts}, index);
  output(3, mode == kMax ? at::IntArrayRef(sizes) : at::IntArrayRef(counts), index);
}

void EmbeddingBagDenseBackward::meta(const at::Tensor& grad, const at::Tensor& indices,
                                     const at::Tensor& offset2bag,
                                     const at::Tensor& bag_size,
                                     const at::Tensor& maximum_indices,
                                     int64_t num_weights, bool, int64_t mode,
                                     const Weights&, int64_t) {
  TORCH_CHECK(grad.dim() == 2 && is_index(indices),
              "openreg: _embedding_bag_dense_backward: expected a gradient of 2 ",
              "dimensions and indices of 1, but got ", grad.sizes(), " and ",
              indices.sizes());
  TORCH_CHECK(
      offset2bag.numel() >= indices.numel() && bag_size.numel() >= grad.size(0) &&
          (mode != kMax || maximum_indices.sizes() == grad.sizes()),
      "openreg: _embedding_bag_dense_backward: the lists of bags, of sizes ",
      offset2bag.sizes(), ", ", bag_size.sizes(), " and ", maximum_indices.sizes(),
      ", do not match ", indices.numel(), " indices and a gradient of ", grad.sizes());
  output(0, {num_weights, grad.size(1)}, grad.options());
}

void EmbeddingBagWeightsBackward::meta(const at::Tensor& grad, const at::Tensor& weight,
                                       const at::Tensor& indices,
                                       const at::Tensor& offsets,
                                       const at::Tensor& offset2bag, int64_t mode,
                                       int64_t padding_idx) {
  check_arguments(mode == kSum && grad.dim() == 2 && weight.dim() == 2 &&
                      is_index(indices) && grad.size(1) == weight.size(1),
                  [&] {
                    at::_embedding_bag_per_sample_weights_backward(
                        zeros_for(grad), zeros_for(weight), zeros_for(indices),
                        zeros_for(offsets), zeros_for(offset2bag), mode, padding_idx);
                  });
  output(0, {indices.size(0)}, grad.options());
}

void EmbeddingRenorm::meta(const at::Tensor& self, const at::Tensor& indices,
                           double max_norm, double norm_type) {
  check_arguments(
      self.dim() == 2 &&
          (indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt),
      [&] {
        at::Tensor zeros = zeros_for(self);
        at::embedding_renorm_(zeros, zeros_for(indices), max_norm, norm_type);
      });
  output_like(0, self);
}

}  // namespace openreg
