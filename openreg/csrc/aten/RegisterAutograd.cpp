// Registers a custom backward; see docs/operators/autograd-function.md.
#include <torch/library.h>

#include "csrc/aten/ops/NativeFunctions.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_AUTOGRAD
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("cosine_similarity", cosine_similarity_autograd);
}
// LITERALINCLUDE END: REGISTER_AUTOGRAD

}  // namespace openreg
