// The base class of meta functions that ATen lacks; see
// docs/operators/meta-functions.md.
#pragma once

#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

namespace openreg {

// LITERALINCLUDE START: META_FUNCTION
// A class derived from this has a function `meta` with the arguments of the operator.
// It checks them and requests each output. An output that is not requested stays
// undefined.
struct MetaFunction : at::impl::MetaBase {
 protected:
  // A new output has these properties. An output from the caller is checked and resized
  // if necessary, and otherwise keeps its strides, because kernels write to any
  // strides.
  void output(int64_t index, at::IntArrayRef sizes, const at::TensorOptions& options,
              at::MemoryFormat format = at::MemoryFormat::Contiguous) {
    set_output_raw_strided(index, sizes, {}, options.memory_format(format));
  }
  // As at::empty_like(): with the strides of `like`, if they leave no gaps.
  void output_like(int64_t index, const at::Tensor& like) {
    output_like(index, like, like.options());
  }
  void output_like(int64_t index, const at::Tensor& like,
                   const at::TensorOptions& options);
};
// LITERALINCLUDE END: META_FUNCTION

}  // namespace openreg
