// Sums, means and maxima of embeddings; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <ATen/ops/_embedding_bag_dense_backward.h>
#include <ATen/ops/_embedding_bag_forward_only.h>
#include <ATen/ops/_embedding_bag_per_sample_weights_backward.h>
#include <ATen/ops/embedding_renorm.h>
#include <ATen/ops/empty.h>

#include "csrc/aten/kernels/EmbeddingBag.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using Weights = std::optional<at::Tensor>;
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

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

template <auto* kFunction, auto* kKernel>
FourTensors bag_forward(const at::Tensor& weight, const at::Tensor& indices,
                        const at::Tensor& offsets, bool scale_grad_by_freq,
                        int64_t mode, bool sparse, const Weights& per_sample,
                        bool include_last, int64_t padding_idx) {
  check_same_device("_embedding_bag", weight, indices, offsets, per_sample);
  check_arguments(fit(weight, indices, offsets, mode, per_sample, include_last), [&] {
    kFunction(zeros_for(weight), zeros_for(indices), zeros_for(offsets),
              scale_grad_by_freq, mode, sparse, zeros_for(per_sample), include_last,
              padding_idx);
  });
  const int64_t bags = offsets.size(0) - (include_last ? 1 : 0);
  const auto index = offsets.options().dtype(
      c10::promoteTypes(offsets.scalar_type(), indices.scalar_type()));
  const c10::DimVector sizes{bags, weight.size(1)};
  const bool fast = has_fast_sum(weight, mode, per_sample, padding_idx);
  const at::Tensor output = at::empty(sizes, weight.options());
  const at::Tensor bag_of = at::empty({fast ? 0 : indices.size(0)}, index);
  const bool counts_end = kFunction == at::_embedding_bag_forward_only && mode == kSum;
  const at::Tensor bag_size = at::empty({counts_end ? offsets.size(0) : bags}, index);
  const at::Tensor places =
      at::empty(mode == kMax ? at::IntArrayRef(sizes) : bag_size.sizes(), index);
  if (bags == 0) {  // ATen's kernels write to a bag that is not there
    for (const at::Tensor& out : {bag_of, bag_size, places}) {
      out.zero_();
    }
    return {output, bag_of, bag_size, places};
  }
  launch_out("_embedding_bag", kKernel, std::array{output, bag_of, bag_size, places},
             weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample,
             include_last, padding_idx);
  return {output, bag_of, bag_size, places};
}

at::Tensor bag_dense_backward(const at::Tensor& grad, const at::Tensor& indices,
                              const at::Tensor& offset2bag, const at::Tensor& bag_size,
                              const at::Tensor& maximum_indices, int64_t num_weights,
                              bool scale_grad_by_freq, int64_t mode,
                              const Weights& per_sample, int64_t padding_idx) {
  check_same_device("_embedding_bag_dense_backward", grad, indices, offset2bag,
                    per_sample);
  TORCH_CHECK(grad.dim() == 2 && is_index(indices),
              "openreg: _embedding_bag_dense_backward: expected a gradient of 2 ",
              "dimensions and indices of 1, but got ", grad.sizes(), " and ",
              indices.sizes());
  TORCH_CHECK(offset2bag.numel() >= indices.numel() &&
                  bag_size.numel() >= grad.size(0) &&
                  (mode != kMax || maximum_indices.sizes() == grad.sizes()),
              "openreg: _embedding_bag_dense_backward: the lists of bags, of sizes ",
              offset2bag.sizes(), ", ", bag_size.sizes(), " and ",
              maximum_indices.sizes(), ", do not go with ", indices.numel(),
              " indices and a gradient of ", grad.sizes());
  const at::Tensor out = at::empty({num_weights, grad.size(1)}, grad.options());
  launch_out("_embedding_bag_dense_backward",
             cpu::out_variant<at::_embedding_bag_dense_backward>, std::array{out}, grad,
             indices, offset2bag, bag_size, maximum_indices, num_weights,
             scale_grad_by_freq, mode, per_sample, padding_idx);
  return out;
}

at::Tensor bag_per_sample_backward(const at::Tensor& grad, const at::Tensor& weight,
                                   const at::Tensor& indices, const at::Tensor& offsets,
                                   const at::Tensor& offset2bag, int64_t mode,
                                   int64_t padding_idx) {
  check_same_device("_embedding_bag_per_sample_weights_backward", grad, weight, indices,
                    offsets, offset2bag);
  check_arguments(mode == kSum && grad.dim() == 2 && weight.dim() == 2 &&
                      is_index(indices) && grad.size(1) == weight.size(1),
                  [&] {
                    at::_embedding_bag_per_sample_weights_backward(
                        zeros_for(grad), zeros_for(weight), zeros_for(indices),
                        zeros_for(offsets), zeros_for(offset2bag), mode, padding_idx);
                  });
  const at::Tensor out = at::empty({indices.size(0)}, grad.options());
  launch_out("_embedding_bag_per_sample_weights_backward",
             cpu::out_variant<at::_embedding_bag_per_sample_weights_backward>,
             std::array{out}, grad, weight, indices, offsets, offset2bag, mode,
             padding_idx);
  return out;
}

// Torch's function chooses between a sparse and a dense gradient.
at::Tensor bag_backward(const at::Tensor& grad, const at::Tensor& indices,
                        const at::Tensor& offsets, const at::Tensor& offset2bag,
                        const at::Tensor& bag_size, const at::Tensor& maximum_indices,
                        int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
                        bool sparse, const Weights& per_sample, int64_t padding_idx) {
  return at::native::_embedding_bag_backward_symint(
      grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
      scale_grad_by_freq, mode, sparse, per_sample, padding_idx);
}

at::Tensor& embedding_renorm_(at::Tensor& self, const at::Tensor& indices,
                              double max_norm, double norm_type) {
  check_same_device("embedding_renorm_", self, indices);
  at::assert_no_internal_overlap(self);
  check_arguments(
      self.dim() == 2 &&
          (indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt),
      [&] {
        at::Tensor zeros = zeros_for(self);
        at::embedding_renorm_(zeros, zeros_for(indices), max_norm, norm_type);
      });
  launch_out("embedding_renorm_", kernels::embedding_renorm_out, std::array{self},
             indices, max_norm, norm_type);
  return self;
}

}  // namespace

void register_embedding_bag(torch::Library& m) {
  m.impl("_embedding_bag",
         &bag_forward<at::_embedding_bag, kernels::embedding_bag_out>);
  m.impl("_embedding_bag_forward_only",
         &bag_forward<at::_embedding_bag_forward_only,
                      kernels::embedding_bag_forward_only_out>);
  m.impl("_embedding_bag_dense_backward", bag_dense_backward);
  m.impl("_embedding_bag_per_sample_weights_backward", bag_per_sample_backward);
  m.impl("embedding_renorm_", embedding_renorm_);
  m.impl("_embedding_bag_backward", bag_backward);
}

}  // namespace openreg
