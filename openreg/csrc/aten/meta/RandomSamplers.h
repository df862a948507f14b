// Meta functions of distributions with rejection sampling; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

using OptionalGenerator = std::optional<at::Generator>;

struct Poisson : MetaFunction {
  void meta(const at::Tensor& rate, const OptionalGenerator&);
};

struct Binomial : MetaFunction {
  void meta(const at::Tensor& count, const at::Tensor& probability,
            const OptionalGenerator&);
};

struct StandardGamma : MetaFunction {
  void meta(const at::Tensor& alpha, const OptionalGenerator&);
};

struct Dirichlet : MetaFunction {
  void meta(const at::Tensor& alpha, const OptionalGenerator&);
};

}  // namespace openreg
