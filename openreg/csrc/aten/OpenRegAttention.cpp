// Registers the fused attention; see docs/operators/composite.md.
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <torch/library.h>

#include "csrc/aten/native/Attention.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_ATTENTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_scaled_dot_product_fused_attention_overrideable", fused_attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward",
         fused_attention_backward);
  m.impl("_fused_sdp_choice", choose_attention);  // for callers of its name only
}

}  // namespace openreg

namespace at::native {
// This is the choice that scaled_dot_product_attention makes.
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &openreg::choose_attention)
}  // namespace at::native
// LITERALINCLUDE END: REGISTER_ATTENTION
