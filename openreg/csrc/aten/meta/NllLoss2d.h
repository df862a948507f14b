// Meta functions of the negative log likelihood of images; see
// docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct NllLoss2d : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& target,
            const std::optional<at::Tensor>& weight, int64_t reduction,
            int64_t ignore_index);
};

struct NllLoss2dBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            const at::Tensor& target, const std::optional<at::Tensor>& weight,
            int64_t reduction, int64_t ignore_index, const at::Tensor& total_weight);
};

}  // namespace openreg
