// Registers the fallback of all other operators; see docs/operators/fallback.md.
#include <torch/library.h>

#include "csrc/aten/native/Fallback.h"

namespace openreg {

// LITERALINCLUDE START: GLOBAL_FALLBACK
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
// LITERALINCLUDE END: GLOBAL_FALLBACK

}  // namespace openreg
