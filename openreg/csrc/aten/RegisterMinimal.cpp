// Registers the smallest useful set of operators; see docs/operators/minimal.md.
#include <torch/library.h>

#include "csrc/aten/ops/NativeFunctions.h"

namespace openreg {

// LITERALINCLUDE START: MINIMAL
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  // Create: allocate memory on the device.
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  // Copy: between host and device, and on the device.
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
  // View: the same memory with another shape. These can never fall back.
  m.impl("as_strided", as_strided);
  m.impl("view", view);
  m.impl("_reshape_alias", reshape_alias);
  m.impl("unfold", unfold);
  m.impl("view_as_real", view_as_real);
  m.impl("view_as_complex", view_as_complex);
  // Storage: replace or resize it.
  m.impl("set_", set_);
  m.impl("set_.source_Storage", set_source_storage_);
  m.impl("set_.source_Storage_storage_offset", set_source_storage_offset_);
  m.impl("set_.source_Tensor", set_source_tensor_);
  m.impl("resize_", resize_);
  m.impl("is_set_to", is_set_to);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
  m.impl("record_stream", record_stream);
}
// LITERALINCLUDE END: MINIMAL

// LITERALINCLUDE START: CONJUGATE
// copy_from honors the pending conjugation itself. Without these two lines torch would
// first resolve the bit with a copy, which calls _copy_from again, in an endless
// recursion.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
// LITERALINCLUDE END: CONJUGATE

}  // namespace openreg
