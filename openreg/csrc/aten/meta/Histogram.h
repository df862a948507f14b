// Meta functions of operators that count values; see docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// Of integers too, which CUDA counts and the CPU does not.
struct Histc : MetaFunction {
  void meta(const at::Tensor& self, int64_t bins, const at::Scalar& min,
            const at::Scalar& max);
};

// The host waits for the largest value, which is the size of the result.
struct Bincount : MetaFunction {
  void meta(const at::Tensor& self, const std::optional<at::Tensor>& weights,
            int64_t minlength);
};

}  // namespace openreg
