// Meta functions of reductions that have several results or skip elements; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <tuple>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct VarMean : MetaFunction {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
            const std::optional<at::Scalar>& correction, bool keepdim);
};

struct StdMean : MetaFunction {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
            const std::optional<at::Scalar>& correction, bool keepdim);
};

// Sums without NaN.
struct Nansum : MetaFunction {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim, bool keepdim,
            std::optional<at::ScalarType> dtype);
};

struct CountNonzero : MetaFunction {
  void meta(const at::Tensor& self, at::IntArrayRef dim);
};

// Over all dimensions.
struct Median : MetaFunction {
  void meta(const at::Tensor& self);
};

// Over one. `on_host` throws torch's errors.
struct MedianDim : MetaFunction {
  using OnHost = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, int64_t, bool);

 protected:
  void median(OnHost* on_host, const at::Tensor& self, int64_t dim, bool keepdim);
};
template <MedianDim::OnHost* kOnHost>
struct MedianDimOf : MedianDim {
  void meta(const at::Tensor& self, int64_t dim, bool keepdim) {
    median(kOnHost, self, dim, keepdim);
  }
};

}  // namespace openreg
