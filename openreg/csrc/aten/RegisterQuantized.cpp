// Registers fake quantization; see docs/modules/fake-quantize.md.
#include <torch/library.h>

#include "csrc/aten/ops/FakeQuantize.h"

namespace openreg {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_fake_quantize(m); }

}  // namespace openreg
