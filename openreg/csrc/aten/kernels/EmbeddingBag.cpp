// Sums, means and maxima of embeddings; see docs/operators/structured.md.
#include "csrc/aten/kernels/EmbeddingBag.h"

#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_embedding_bag_forward_only.h>
#include <ATen/ops/embedding_renorm.h>

namespace openreg::kernels {
namespace {

using BagOutputs = std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&>;

template <auto* kFunction>
BagOutputs write_bags(const at::Tensor& weight, const at::Tensor& indices,
                      const at::Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                      bool sparse, const std::optional<at::Tensor>& per_sample,
                      bool include_last, int64_t padding_idx, at::Tensor& output,
                      at::Tensor& bags, at::Tensor& bag_size, at::Tensor& places) {
  const auto found = kFunction(weight, indices, offsets, scale_grad_by_freq, mode,
                               sparse, per_sample, include_last, padding_idx);
  output.copy_(std::get<0>(found));
  const auto copy_if_wanted = [](const at::Tensor& value, at::Tensor& to) {
    if (to.numel() > 0) {
      TORCH_CHECK(value.sizes() == to.sizes(), "expected ", to.sizes(), ", but got ",
                  value.sizes());
      to.copy_(value);
    }
  };
  copy_if_wanted(std::get<1>(found), bags);
  copy_if_wanted(std::get<2>(found), bag_size);
  copy_if_wanted(std::get<3>(found), places);
  return {output, bags, bag_size, places};
}

}  // namespace

BagOutputs embedding_bag_out(const at::Tensor& weight, const at::Tensor& indices,
                             const at::Tensor& offsets, bool scale_grad_by_freq,
                             int64_t mode, bool sparse,
                             const std::optional<at::Tensor>& per_sample,
                             bool include_last, int64_t padding_idx, at::Tensor& output,
                             at::Tensor& bags, at::Tensor& bag_size,
                             at::Tensor& places) {
  return write_bags<at::_embedding_bag>(weight, indices, offsets, scale_grad_by_freq,
                                        mode, sparse, per_sample, include_last,
                                        padding_idx, output, bags, bag_size, places);
}

BagOutputs embedding_bag_forward_only_out(
    const at::Tensor& weight, const at::Tensor& indices, const at::Tensor& offsets,
    bool scale_grad_by_freq, int64_t mode, bool sparse,
    const std::optional<at::Tensor>& per_sample, bool include_last, int64_t padding_idx,
    at::Tensor& output, at::Tensor& bags, at::Tensor& bag_size, at::Tensor& places) {
  return write_bags<at::_embedding_bag_forward_only>(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample,
      include_last, padding_idx, output, bags, bag_size, places);
}

at::Tensor& embedding_renorm_out(const at::Tensor& indices, double max_norm,
                                 double norm_type, at::Tensor& weight) {
  return at::embedding_renorm_(weight, indices, max_norm, norm_type);
}

}  // namespace openreg::kernels
