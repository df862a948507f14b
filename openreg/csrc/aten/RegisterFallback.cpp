// Registers the fallback of all other operators; see docs/operators/fallback.md.
#include <torch/library.h>

#include "csrc/aten/ops/Fallback.h"

namespace openreg {

// VENDOR: whether operators without a kernel run on the CPU or raise an error
// LITERALINCLUDE START: GLOBAL_FALLBACK
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
// LITERALINCLUDE END: GLOBAL_FALLBACK

// LITERALINCLUDE START: PER_OPERATOR_FALLBACK
// One operator by name, whatever the global fallback does.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("copysign.Tensor", torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
// LITERALINCLUDE END: PER_OPERATOR_FALLBACK

// Torch composes these of other operators on every device, but reads the elements of a
// tensor on the host. With device memory this would crash the process.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* name : {"_grid_sampler_2d_cpu_fallback",
                           "_grid_sampler_2d_cpu_fallback.out",
                           "_grid_sampler_2d_cpu_fallback_backward",
                           "_reshape_from_tensor",
                           "_rowwise_prune",
                           "_saturate_weight_to_fp16",
                           "_sobol_engine_draw",
                           "_sobol_engine_ff_",
                           "_sobol_engine_initialize_state_",
                           "_sobol_engine_scramble_",
                           "choose_qparams_optimized",
                           "fbgemm_linear_fp16_weight",
                           "fbgemm_linear_fp16_weight_fp32_activation",
                           "fbgemm_linear_int8_weight",
                           "fbgemm_linear_int8_weight_fp32_activation",
                           "fbgemm_linear_quantize_weight",
                           "fbgemm_pack_gemm_matrix_fp16",
                           "fbgemm_pack_quantized_matrix",
                           "fbgemm_pack_quantized_matrix.KN",
                           "quantized_gru_cell",
                           "quantized_lstm_cell",
                           "quantized_rnn_relu_cell",
                           "quantized_rnn_tanh_cell"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
  }
}

}  // namespace openreg
