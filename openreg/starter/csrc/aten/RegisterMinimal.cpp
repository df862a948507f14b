// Registers the operators without which there is no tensor; see
// docs/start/first-operators.md.
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "csrc/aten/ops/NativeFunctions.h"

namespace starter {

// LITERALINCLUDE START: STARTER_MINIMAL
// VENDOR: which operators you write by hand
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  // Views touch no memory: ATen's code, which torch registers for its devices only.
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("set_.source_Storage", set_source_storage_);
  m.impl("set_.source_Storage_storage_offset", set_source_storage_offset_);
  m.impl("set_.source_Tensor", set_source_tensor_);
  m.impl("is_set_to", at::native::is_set_to);
  m.impl("resize_", resize_);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
  m.impl("record_stream", record_stream);
}
// LITERALINCLUDE END: STARTER_MINIMAL

// LITERALINCLUDE START: STARTER_CONJUGATE
// copy_from resolves conjugation and negation itself. Resolved by torch first, each
// copy would need a copy.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
// LITERALINCLUDE END: STARTER_CONJUGATE

}  // namespace starter
