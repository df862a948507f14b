// Kernels of Transformer layers in inference; see docs/operators/fused-layers.md.
#include "csrc/aten/meta/Transformer.h"

#include <ATen/Operators.h>
#include <ATen/ops/_native_multi_head_attention.h>
#include <ATen/ops/_transformer_encoder_layer_fwd.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

// nn.Transformer passes masks of minus infinity and zero. These functions convert them
// to boolean ones, true for what is hidden, and warn.
template <auto* kFunction>
constexpr auto* kLayer = cpu::without_warnings<cpu::out_variant<kFunction>>;

// LITERALINCLUDE START: REGISTER_TRANSFORMER
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::_native_multi_head_attention, MultiHeadAttention,
                          kLayer<at::_native_multi_head_attention>>(m);
  cpu::on_cpu_without_out<op::_transformer_encoder_layer_fwd, TransformerEncoderLayer,
                          kLayer<at::_transformer_encoder_layer_fwd>>(m);
  // The encoder calls this before it packs a batch into a nested tensor. Nested tensors
  // need many small kernels here, so this returns false, and the batch stays padded.
  m.impl("_nested_tensor_from_mask_left_aligned",
         [](const at::Tensor&, const at::Tensor&) { return false; });
}
// LITERALINCLUDE END: REGISTER_TRANSFORMER

}  // namespace openreg
