// Registers the fast paths of Transformer layers; see docs/operators/composite.md.
#include <torch/library.h>

#include "csrc/aten/native/Transformer.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_TRANSFORMER
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_native_multi_head_attention", native_multi_head_attention);
  m.impl("_transformer_encoder_layer_fwd", transformer_encoder_layer);
  m.impl("_nested_tensor_from_mask_left_aligned", nested_tensor_from_mask_left_aligned);
}
// LITERALINCLUDE END: REGISTER_TRANSFORMER

}  // namespace openreg
