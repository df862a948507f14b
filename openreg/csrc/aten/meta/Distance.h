// Meta functions of distances between rows; see docs/operators/meta-functions.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Cdist : MetaFunction {
  void meta(const at::Tensor& x1, const at::Tensor& x2, double p,
            std::optional<int64_t> mode);
};

struct CdistBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& x1, const at::Tensor& x2,
            double p, const at::Tensor& cdist);
};

struct Pdist : MetaFunction {
  void meta(const at::Tensor& self, double p);
};

struct PdistBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& self, double p,
            const at::Tensor& pdist);
};

}  // namespace openreg
