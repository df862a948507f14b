// Registers the operators that are written by hand, besides the minimal set; see
// docs/operators/registration.md.
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <torch/library.h>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/NativeLayers.h"

namespace openreg {

// VENDOR: which operators you write by hand
// LITERALINCLUDE START: EXTRA
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", add);
  m.impl("add_.Tensor", add_);
  m.impl("add.out", add_out);
  m.impl("fill_.Scalar", fill_scalar_);
  m.impl("fill_.Tensor", fill_tensor_);
  m.impl("zero_", zero_);
}
// LITERALINCLUDE END: EXTRA

// LITERALINCLUDE START: REGISTER_SYNC_BATCH_NORM
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("batch_norm_stats", batch_norm_stats);
  m.impl("batch_norm_gather_stats", batch_norm_gather_stats);
  m.impl("batch_norm_gather_stats_with_counts", batch_norm_gather_stats_with_counts);
  m.impl("batch_norm_elemt", batch_norm_elemt);
  m.impl("batch_norm_backward_reduce", batch_norm_backward_reduce);
  m.impl("batch_norm_backward_elemt", batch_norm_backward_elemt);
}
// LITERALINCLUDE END: REGISTER_SYNC_BATCH_NORM

// What models of text, sound and images call besides the common operators.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_embedding_bag(m);
  register_quantized_products(m);
}

// LITERALINCLUDE START: REGISTER_CONVOLUTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution_overrideable);
  m.impl("convolution_backward_overrideable", convolution_backward_overrideable);
}
// LITERALINCLUDE END: REGISTER_CONVOLUTION

// LITERALINCLUDE START: REGISTER_RNN
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", fused_lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", fused_lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", fused_gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", fused_gru_cell_backward);
}
// LITERALINCLUDE END: REGISTER_RNN

// For both keys: torch's composite kernel is the one that autograd differentiates.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_packed_rnn(m); }
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { register_packed_rnn(m); }

// LITERALINCLUDE START: REGISTER_TRANSFORMER
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_native_multi_head_attention", native_multi_head_attention);
  m.impl("_transformer_encoder_layer_fwd", transformer_encoder_layer);
  m.impl("_nested_tensor_from_mask_left_aligned", nested_tensor_from_mask_left_aligned);
}
// LITERALINCLUDE END: REGISTER_TRANSFORMER

// LITERALINCLUDE START: REGISTER_EFFICIENT_ATTENTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_scaled_dot_product_efficient_attention", efficient_attention);
  m.impl("_scaled_dot_product_efficient_attention_backward",
         efficient_attention_backward);
}
// LITERALINCLUDE END: REGISTER_EFFICIENT_ATTENTION

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
