// Meta functions of dropout and the random leaky ReLU; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Scalar.h>

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Dropout : MetaFunction {
  void meta(const at::Tensor& input, double p, std::optional<bool> train);
};

struct DropoutBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& mask, double scale);
};

struct Rrelu : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& noise, const at::Scalar& lower,
            const at::Scalar& upper, bool training,
            const std::optional<at::Generator>& generator);
};

}  // namespace openreg
