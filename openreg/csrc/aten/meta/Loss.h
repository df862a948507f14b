// Meta functions of losses that compare two tensors and reduce; see
// docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// `reduction` is one of at::Reduction: none, mean or sum.
struct Loss : MetaFunction {
 protected:
  void loss(const char* name, const at::Tensor& self, const at::Tensor& target,
            int64_t reduction, at::ScalarType dtype);
};

struct MseLoss : Loss {
  void meta(const at::Tensor& self, const at::Tensor& target, int64_t reduction);
};

struct SmoothL1Loss : Loss {
  void meta(const at::Tensor& self, const at::Tensor& target, int64_t reduction,
            double beta);
};

struct HuberLoss : Loss {
  void meta(const at::Tensor& self, const at::Tensor& target, int64_t reduction,
            double delta);
};

struct BinaryCrossEntropy : Loss {
  void meta(const at::Tensor& self, const at::Tensor& target,
            const std::optional<at::Tensor>& weight, int64_t reduction);
};

}  // namespace openreg
