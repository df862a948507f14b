// Kernels of sums, means and maxima of embeddings; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/EmbeddingBag.h"

#include <ATen/Operators.h>
#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_embedding_bag_dense_backward.h>
#include <ATen/ops/_embedding_bag_forward_only.h>
#include <ATen/ops/_embedding_bag_per_sample_weights_backward.h>
#include <ATen/ops/embedding_renorm.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;

// On the device: writes to the outputs that have elements.
template <auto* kFunction>
void write_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                bool scale_grad_by_freq, int64_t mode, bool sparse,
                const OptionalTensor& per_sample, bool include_last,
                int64_t padding_idx, Tensor& output, Tensor& bags, Tensor& bag_size,
                Tensor& places) {
  const auto found = kFunction(weight, indices, offsets, scale_grad_by_freq, mode,
                               sparse, per_sample, include_last, padding_idx);
  output.copy_(std::get<0>(found));
  const auto copy_if_wanted = [](const Tensor& value, Tensor& to) {
    if (to.numel() > 0) {
      TORCH_CHECK(value.sizes() == to.sizes(), "expected ", to.sizes(), ", but got ",
                  value.sizes());
      to.copy_(value);
    }
  };
  copy_if_wanted(std::get<1>(found), bags);
  copy_if_wanted(std::get<2>(found), bag_size);
  copy_if_wanted(std::get<3>(found), places);
}

template <auto* kFunction>
void embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                   bool scale_grad_by_freq, int64_t mode, bool sparse,
                   const OptionalTensor& per_sample, bool include_last,
                   int64_t padding_idx, Tensor& output, Tensor& bags, Tensor& bag_size,
                   Tensor& places) {
  if (output.size(0) == 0) {  // ATen's kernels write to a bag that does not exist
    for (const Tensor& out : {bags, bag_size, places}) {
      out.zero_();
    }
    return;
  }
  cpu::call("_embedding_bag", write_bags<kFunction>, weight, indices, offsets,
            scale_grad_by_freq, mode, sparse, per_sample, include_last, padding_idx,
            output, bags, bag_size, places);
}

void renorm(const Tensor& self, const Tensor& indices, double max_norm,
            double norm_type, Tensor& out) {
  if (!out.is_same(self)) {
    out.copy_(self);
  }
  cpu::call(
      "embedding_renorm_",
      [](const Tensor& rows, double largest, double p, Tensor& weight) {
        at::embedding_renorm_(weight, rows, largest, p);
      },
      indices, max_norm, norm_type, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_without_out<op::_embedding_bag, EmbeddingBag>(
      m, embedding_bag<at::_embedding_bag>);
  structured_without_out<op::_embedding_bag_forward_only, EmbeddingBagForwardOnly>(
      m, embedding_bag<at::_embedding_bag_forward_only>);
  cpu::on_cpu_without_out<op::_embedding_bag_dense_backward, EmbeddingBagDenseBackward,
                          cpu::out_variant<at::_embedding_bag_dense_backward>>(m);
  cpu::on_cpu_without_out<
      op::_embedding_bag_per_sample_weights_backward, EmbeddingBagWeightsBackward,
      cpu::out_variant<at::_embedding_bag_per_sample_weights_backward>>(m);
  structured_without_out<op::embedding_renorm, EmbeddingRenorm>(m, renorm);
}

}  // namespace openreg
