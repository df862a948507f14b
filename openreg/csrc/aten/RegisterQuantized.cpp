// Registers what makes quantized tensors of dense ones; see
// docs/operators/quantized-and-nested.md.
#include <torch/library.h>

#include "csrc/aten/ops/QuantizedTensors.h"

namespace openreg {

// VENDOR: which operators of quantization your device has
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("quantize_per_tensor", quantize_per_tensor);
  m.impl("quantize_per_tensor.tensor_qparams", quantize_per_tensor_params);
  m.impl("quantize_per_channel", quantize_per_channel);
}

}  // namespace openreg
