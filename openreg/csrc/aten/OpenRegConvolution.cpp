// Registers the convolutions; see docs/operators/composite.md.
#include <torch/library.h>

#include "csrc/aten/native/Convolution.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_CONVOLUTION
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution_overrideable);
  m.impl("convolution_backward_overrideable", convolution_backward_overrideable);
}
// LITERALINCLUDE END: REGISTER_CONVOLUTION

}  // namespace openreg
