// Lets operators without an autocast rule pass; see docs/operators/custom.md.
#include <torch/library.h>

// LITERALINCLUDE START: AUTOCAST_FALLTHROUGH
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
// LITERALINCLUDE END: AUTOCAST_FALLTHROUGH
