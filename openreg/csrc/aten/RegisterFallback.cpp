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

}  // namespace openreg
