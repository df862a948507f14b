// Meta functions that reverse the order of elements; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Flip : MetaFunction {
  void meta(const at::Tensor& self, at::IntArrayRef dims);
};

}  // namespace openreg
