// Registers layer, group and batch normalisation; see docs/operators/structured.md.
#include <torch/library.h>

#include "csrc/aten/native/Normalization.h"

namespace openreg {

// torch has defaults for most of these, made of many small operators. They are slower,
// and round differently in bfloat16.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("native_layer_norm", native_layer_norm);
  m.impl("native_layer_norm_backward", native_layer_norm_backward);
  m.impl("native_group_norm", native_group_norm);
  m.impl("native_group_norm_backward", native_group_norm_backward);
  m.impl("native_batch_norm", native_batch_norm);
  m.impl("native_batch_norm.out", native_batch_norm_out);
  // The same, under the names whose schemas tell what is written.
  m.impl("_native_batch_norm_legit", native_batch_norm_legit);
  m.impl("_native_batch_norm_legit.no_stats", native_batch_norm_no_stats);
  m.impl("native_batch_norm_backward", native_batch_norm_backward);
}

}  // namespace openreg
