// Meta functions of the loss of connectionist temporal classification; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct CtcLoss : MetaFunction {
  void meta(const at::Tensor& log_probs, const at::Tensor& targets,
            at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
            int64_t blank, bool zero_infinity);
};

struct CtcLossBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& log_probs,
            const at::Tensor& targets, at::IntArrayRef input_lengths,
            at::IntArrayRef target_lengths, const at::Tensor& neg_log_likelihood,
            const at::Tensor& log_alpha, int64_t blank, bool zero_infinity);
};

}  // namespace openreg
