// Registers the other native operators; see docs/operators/registration.md.
#include <torch/library.h>

#include "csrc/aten/native/Add.h"
#include "csrc/aten/native/Fallback.h"
#include "csrc/aten/native/Fill.h"

namespace openreg {

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

// LITERALINCLUDE START: PER_OPERATOR_FALLBACK
// One operator by name, whatever the global fallback does.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("copysign.Tensor", torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
// LITERALINCLUDE END: PER_OPERATOR_FALLBACK

}  // namespace openreg
