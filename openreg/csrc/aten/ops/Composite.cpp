// Operators that are made of other operators, which torch registers for its own devices
// only; see docs/operators/registration.md.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ScalarOps.h>
#include <ATen/native/BucketizationUtils.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <ATen/ops/_fake_quantize_learnable_per_channel_affine_native.h>
#include <ATen/ops/_fake_quantize_learnable_per_tensor_affine_native.h>
#include <ATen/ops/channel_shuffle.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/range.h>
#include <ATen/ops/roll_native.h>
#include <ATen/ops/searchsorted.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using at::Tensor;

// As on CUDA: an index that is a mask. The host waits for the number of elements.
Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  check_same_device("masked_select", out, self, mask);
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_select: expected BoolTensor for mask");
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  const auto [where, from] = at::expand_outplace(mask, self);
  const bool is_scalar = from->dim() == 0;
  return at::index_outf(
      is_scalar ? from->unsqueeze(0) : *from,
      c10::List<std::optional<Tensor>>({is_scalar ? where->unsqueeze(0) : *where}),
      out);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  Tensor out = at::empty({0}, self.options());
  return masked_select_out(self, mask, out);
}

// Torch's meta function allocates a vector for the result of a single number, which the
// CPU and CUDA kernels resize. A launched kernel cannot.
Tensor isin_scalar(const at::Scalar& element, const Tensor& tests, bool assume_unique,
                   bool invert) {
  return at::isin(c10::scalar_to_tensor(element, tests.device()), tests, assume_unique,
                  invert);
}

Tensor& isin_scalar_out(const at::Scalar& element, const Tensor& tests,
                        bool assume_unique, bool invert, Tensor& out) {
  return at::isin_outf(c10::scalar_to_tensor(element, tests.device()), tests,
                       assume_unique, invert, out);
}

std::vector<int64_t> lengths_of(const Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
              "input_lengths and target_lengths must be integral");
  const Tensor here = lengths.to(at::kCPU, at::kLong).contiguous();
  const int64_t* first = here.const_data_ptr<int64_t>();
  return {first, first + here.numel()};
}

// With lengths as tensors: the host waits for them, as on CUDA.
std::tuple<Tensor, Tensor> ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                    const Tensor& input_lengths,
                                    const Tensor& target_lengths, int64_t blank,
                                    bool zero_infinity) {
  return at::_ctc_loss(log_probs, targets, lengths_of(input_lengths),
                       lengths_of(target_lengths), blank, zero_infinity);
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& log_probs,
                         const Tensor& targets, const Tensor& input_lengths,
                         const Tensor& target_lengths, const Tensor& neg_log_likelihood,
                         const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  return at::_ctc_loss_backward(grad, log_probs, targets, lengths_of(input_lengths),
                                lengths_of(target_lengths), neg_log_likelihood,
                                log_alpha, blank, zero_infinity);
}

using Side = std::optional<std::string_view>;
using Sorter = std::optional<Tensor>;

Tensor searchsorted_scalar(const Tensor& sorted, const at::Scalar& self, bool out_int32,
                           bool right, Side side, const Sorter& sorter) {
  return at::searchsorted(sorted,
                          at::native::searchsorted_scalar_tensor(self, sorted.device()),
                          out_int32, right, side, sorter);
}

Tensor& searchsorted_scalar_out(const Tensor& sorted, const at::Scalar& self,
                                bool out_int32, bool right, Side side,
                                const Sorter& sorter, Tensor& out) {
  return at::searchsorted_outf(
      sorted, at::native::searchsorted_scalar_tensor(self, sorted.device()), out_int32,
      right, side, sorter, out);
}

void check_boundaries(const Tensor& boundaries) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got ",
              "dim(", boundaries.dim(), ")");
}

Tensor bucketize_tensor(const Tensor& self, const Tensor& boundaries, bool out_int32,
                        bool right) {
  check_boundaries(boundaries);
  return at::searchsorted(boundaries, self, out_int32, right);
}

Tensor& bucketize_out(const Tensor& self, const Tensor& boundaries, bool out_int32,
                      bool right, Tensor& out) {
  check_boundaries(boundaries);
  return at::searchsorted_outf(boundaries, self, out_int32, right, std::nullopt,
                               std::nullopt, out);
}

Tensor bucketize_scalar(const at::Scalar& self, const Tensor& boundaries,
                        bool out_int32, bool right) {
  return bucketize_tensor(
      at::native::searchsorted_scalar_tensor(self, boundaries.device()), boundaries,
      out_int32, right);
}

// Views and one copy.
Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  check_arguments(
      self.dim() > 2 && groups > 0 && self.size(1) % groups == 0 && has_elements(self),
      [&] { at::channel_shuffle(zeros_for(self), groups); });
  if (self.numel() == 0) {
    return self.alias();
  }
  return self.reshape({self.size(0), groups, self.size(1) / groups, -1})
      .transpose(1, 2)
      .reshape(self.sizes())
      .contiguous(self.suggest_memory_format());
}

// The host waits for the result.
bool equal(const Tensor& self, const Tensor& other) {
  check_same_device("equal", self, other);
  return self.sizes() == other.sizes() && at::eq(self, other).all().item<bool>();
}

// The product over all dimensions, by the kernel for one.
Tensor prod(const Tensor& self, std::optional<at::ScalarType> dtype) {
  return at::prod(self.reshape({-1}), 0, /*keepdim=*/false, dtype);
}

Tensor trace(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ",
              self.dim());
  return self.diagonal().sum();
}

Tensor& range_of_ones_out(const at::Scalar& start, const at::Scalar& end, Tensor& out) {
  return at::range_outf(start, end, /*step=*/1, out);
}

Tensor& eye_out(int64_t n, Tensor& out) { return at::eye_outf(n, n, out); }

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("isin.Scalar_Tensor", isin_scalar);
  m.impl("isin.Scalar_Tensor_out", isin_scalar_out);
  m.impl("masked_select", masked_select);
  m.impl("masked_select.out", masked_select_out);
  m.impl("searchsorted.Scalar", searchsorted_scalar);
  m.impl("searchsorted.Scalar_out", searchsorted_scalar_out);
  m.impl("bucketize.Tensor", bucketize_tensor);
  m.impl("bucketize.Tensor_out", bucketize_out);
  m.impl("bucketize.Scalar", bucketize_scalar);
  m.impl("channel_shuffle", channel_shuffle);
  m.impl("equal", equal);
  m.impl("prod", prod);
  m.impl("trace", trace);
  m.impl("range.out_", range_of_ones_out);
  m.impl("eye.out", eye_out);
  // Torch's functions are made of operators, but registered for its own devices only.
  m.impl("roll", at::native::roll);
  m.impl("_fake_quantize_learnable_per_tensor_affine",
         at::native::_fake_quantize_learnable_per_tensor_affine);
  m.impl("_fake_quantize_learnable_per_channel_affine",
         at::native::_fake_quantize_learnable_per_channel_affine);
  // Chooses between a sparse and a dense gradient.
  m.impl("_embedding_bag_backward",
         TORCH_FN(at::native::_embedding_bag_backward_symint));
  m.impl("_ctc_loss.Tensor", ctc_loss);
  m.impl("_ctc_loss_backward.Tensor", ctc_loss_backward);
}

}  // namespace openreg
