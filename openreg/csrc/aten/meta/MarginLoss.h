// Meta functions of losses with a margin; see docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct MultiMarginLoss : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& target, const at::Scalar& p,
            const at::Scalar& margin, const std::optional<at::Tensor>& weight,
            int64_t reduction);
};

struct MultiMarginLossBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            const at::Tensor& target, const at::Scalar& p, const at::Scalar& margin,
            const std::optional<at::Tensor>& weight, int64_t reduction);
};

struct MultilabelMarginLoss : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& target, int64_t reduction);
};

struct MultilabelMarginLossBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            const at::Tensor& target, int64_t reduction, const at::Tensor& is_target);
};

}  // namespace openreg
