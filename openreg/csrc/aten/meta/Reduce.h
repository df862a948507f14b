// Meta functions of reductions without a structured one; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Extremum : MetaFunction {
 protected:
  void extremum(const char* name, const at::Tensor& self);
};
struct Max : Extremum {
  void meta(const at::Tensor& self) { extremum("max", self); }
};
struct Min : Extremum {
  void meta(const at::Tensor& self) { extremum("min", self); }
};

struct Variance : MetaFunction {
  using OnHost = at::Tensor&(const at::Tensor&, at::OptionalIntArrayRef,
                             const std::optional<at::Scalar>&, bool, at::Tensor&);

 protected:
  // `on_host` throws torch's errors.
  void variance(const char* name, OnHost* on_host, const at::Tensor& self,
                at::OptionalIntArrayRef dim,
                const std::optional<at::Scalar>& correction, bool keepdim);
};
struct Var : Variance {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
            const std::optional<at::Scalar>& correction, bool keepdim);
};
struct Std : Variance {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim,
            const std::optional<at::Scalar>& correction, bool keepdim);
};

struct Dot : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& other);
};

// Gives values and where they were.
struct ValueAndPlace : MetaFunction {
 protected:
  void check_pair(const at::Tensor& self);
  void pair(const at::Tensor& self, int64_t dim, bool keepdim);
};
struct Mode : ValueAndPlace {
  void meta(const at::Tensor& self, int64_t dim, bool keepdim);
};
struct Kthvalue : ValueAndPlace {
  void meta(const at::Tensor& self, int64_t k, int64_t dim, bool keepdim);
};

}  // namespace openreg
