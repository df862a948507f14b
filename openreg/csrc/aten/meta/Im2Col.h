// Meta functions that cut images into the columns of a matrix, and back; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Im2Col : MetaFunction {
  void meta(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef dilation,
            at::IntArrayRef padding, at::IntArrayRef stride);
};

struct Col2Im : MetaFunction {
  void meta(const at::Tensor& self, at::IntArrayRef output_size, at::IntArrayRef kernel,
            at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride);
};

}  // namespace openreg
