// Meta functions of operators that select elements; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Indexing.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {

void IndexSelect::meta(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  if (const at::Tensor& out = maybe_get_output(0); out.defined()) {
    TORCH_CHECK(out.scalar_type() == self.scalar_type(),
                "index_select(): self and result must have the same scalar type");
    at::assert_no_internal_overlap(out);
    at::assert_no_overlap(out, self);
    at::assert_no_overlap(out, index);
  }
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
              "index_select(): Expected dtype int32 or int64 for index");
  c10::DimVector sizes(self.sizes());
  dim = at::maybe_wrap_dim(dim, self.dim());
  if (!sizes.empty()) {
    const bool found = self.size(dim) > 0 || index.numel() == 0;
    TORCH_CHECK_INDEX(found || self.dim() > 1, "index out of range in self");
    TORCH_CHECK(found, "index_select(): self indexing axis dim should be positive");
    sizes[dim] = index.numel();
  } else {
    TORCH_CHECK(index.numel() == 1,
                "index_select(): Index to scalar can have only 1 value, got ",
                index.numel(), " value(s)");
  }
  output(0, sizes, self.options());
}

// LITERALINCLUDE START: NONZERO
void Nonzero::meta(const at::Tensor& self) {
  if (const at::Tensor& out = maybe_get_output(0); out.defined()) {
    TORCH_CHECK(
        out.scalar_type() == at::kLong,
        "nonzero: Expected out tensor to have scalar type Long but got scalar type",
        out.scalar_type());
    at::assert_no_internal_overlap(out);
    at::assert_no_overlap(out, self);
  }
  const int64_t rows =
      at::count_nonzero(self, at::IntArrayRef{}).item<int64_t>();  // waits
  set_output_raw_strided(0, {rows, self.dim()}, {1, rows},  // as on the CPU: by index
                         self.options().dtype(at::kLong));
}
// LITERALINCLUDE END: NONZERO

void EmbeddingDenseBackward::meta(const at::Tensor& grad_output,
                                  const at::Tensor& indices, int64_t num_weights,
                                  int64_t, bool) {
  TORCH_CHECK(indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt,
              "Expected tensor for argument #2 'indices' to have one of the following ",
              "scalar types: Long, Int; but got ", indices.toString(), " instead");
  TORCH_CHECK(grad_output.dim() > 0 &&
                  grad_output.numel() == indices.numel() * grad_output.size(-1),
              "openreg: embedding_dense_backward: expected one row for each of ",
              indices.numel(), " indices, but got a gradient of size ",
              grad_output.sizes());
  output(0, {num_weights, grad_output.size(-1)}, grad_output.options());
}

void RepeatInterleave::meta(const at::Tensor& repeats,
                            std::optional<int64_t> output_size) {
  const bool is_index =
      repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt;
  check_arguments(repeats.dim() == 1 && is_index,
                  [&] { at::repeat_interleave(zeros_for(repeats), output_size); });
  int64_t total = output_size.value_or(0);
  if (repeats.size(0) == 0) {
    total = 0;
  } else if (!output_size.has_value()) {  // the host waits once, for both numbers
    const at::Tensor both =
        at::stack({repeats.sum(), repeats.min().to(at::kLong)}).cpu();
    const auto* numbers = both.const_data_ptr<int64_t>();
    TORCH_CHECK(numbers[1] >= 0, "repeats can not be negative");
    total = numbers[0];
  }
  TORCH_CHECK(total >= 0, "repeats can not be negative");
  output(0, {total}, repeats.options());
}

}  // namespace openreg
