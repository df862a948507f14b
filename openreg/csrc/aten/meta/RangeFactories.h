// Meta functions that size ranges of numbers; see docs/operators/meta-functions.md.
#pragma once

#include <c10/core/Scalar.h>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// As on the CPU: a tensor of the right number of elements keeps its sizes and strides.
struct RangeFactory : MetaFunction {
 protected:
  void make_room(int64_t steps);
};

struct Linspace : RangeFactory {
  void meta(const at::Scalar& start, const at::Scalar& end, int64_t steps);
};

struct Logspace : RangeFactory {
  void meta(const at::Scalar& start, const at::Scalar& end, int64_t steps, double base);
};

struct Arange : RangeFactory {
  void meta(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step);
};

// With both ends included.
struct Range : RangeFactory {
  void meta(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step);
};

struct Eye : RangeFactory {
  void meta(int64_t n, int64_t m);
};

}  // namespace openreg
