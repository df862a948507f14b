// Views of memory; see docs/operators/minimal-copies.md.
#include "csrc/aten/ops/NativeFunctions.h"

#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

// None of these touches the memory, so ATen's code works on any device. The kernels
// are registered only for CPU and CUDA, so a backend must register them again.
namespace openreg {

// LITERALINCLUDE START: VIEW
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size,
                      at::IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, storage_offset);
}

at::Tensor view(const at::Tensor& self, at::IntArrayRef size) {
  return at::native::view(self, size);
}
// LITERALINCLUDE END: VIEW

at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size,
                         at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size,
                  int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}

at::Tensor view_as_real(const at::Tensor& self) {
  return at::native::view_as_real(self);
}

at::Tensor view_as_complex(const at::Tensor& self) {
  return at::native::view_as_complex(self);
}

bool is_set_to(const at::Tensor& self, const at::Tensor& tensor) {
  return at::native::is_set_to(self, tensor);
}

// LITERALINCLUDE START: SHALLOW_COPY
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  // torch calls this before it replaces the contents of `self` by those of `from`, as
  // in module.to("openreg"). Both are plain TensorImpls if they are dense.
  const auto dense = [](const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided && !tensor.is_nested();
  };
  return dense(self) && dense(from);
}
// LITERALINCLUDE END: SHALLOW_COPY

}  // namespace openreg
