// The base class of meta functions that ATen lacks; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/MetaFunction.h"

#include <ATen/ExpandUtils.h>

namespace openreg {

void MetaFunction::output_like(int64_t index, const at::Tensor& like,
                               const at::TensorOptions& options) {
  if (like.is_non_overlapping_and_dense()) {
    set_output_raw_strided(index, like.sizes(), like.strides(), options);
  } else {
    set_output_raw_strided(index, like.sizes(),
                           at::infer_dense_strides(like.sizes(), like.strides()),
                           options);
  }
}

}  // namespace openreg
