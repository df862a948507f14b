// Meta functions of activations without a structured one; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct GluBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self, int64_t dim);
};

struct LogSigmoid : MetaFunction {
  void meta(const at::Tensor& self);
};

}  // namespace openreg
