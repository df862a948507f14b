// Meta functions of operators that select elements; see
// docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct IndexSelect : MetaFunction {
  void meta(const at::Tensor& self, int64_t dim, const at::Tensor& index);
};

// The number of rows is known only when the device has counted: the host waits.
struct Nonzero : MetaFunction {
  void meta(const at::Tensor& self);
};

struct EmbeddingDenseBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& indices,
            int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq);
};

// The host waits for the number of elements, unless the caller has it.
struct RepeatInterleave : MetaFunction {
  void meta(const at::Tensor& repeats, std::optional<int64_t> output_size);
};

}  // namespace openreg
