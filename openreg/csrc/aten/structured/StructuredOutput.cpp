// Gives the outputs of a structured operator their sizes; see
// docs/operators/structured.md.
#include "csrc/aten/structured/StructuredOutput.h"

#include <ATen/native/Resize.h>

#include "csrc/aten/ops/NativeFunctions.h"

namespace openreg {
namespace {

void check_output(const at::Tensor& out, const at::TensorOptions& options) {
  TORCH_CHECK(options.dtype() == out.dtype(), "Expected out tensor to have dtype ",
              options.dtype(), ", but got ", out.dtype(), " instead");
  TORCH_CHECK(options.device() == out.device(), "Expected out tensor to have device ",
              options.device(), ", but got ", out.device(), " instead");
}

}  // namespace

// LITERALINCLUDE START: SET_OUTPUT
void set_output(at::Tensor& out, Form form, at::IntArrayRef sizes,
                at::IntArrayRef strides, const at::TensorOptions& options) {
  if (form == Form::Functional) {  // (1)
    const auto dtype = options.dtype().toScalarType();
    const auto device = options.device();
    out = strides.empty()
              ? empty(sizes, dtype, {}, device, {}, options.memory_format_opt())
              : empty_strided(sizes, strides, dtype, {}, device, {});
    return;
  }
  check_output(out, options);
  if (form == Form::Inplace) {  // (2)
    TORCH_CHECK(sizes == out.sizes(), "Bad in-place call: input tensor size ",
                out.sizes(), " and output tensor size ", sizes, " should match");
  } else if (at::native::resize_output(out, sizes)) {  // (3)
    if (!strides.empty()) {
      out.as_strided_(sizes, strides);
    } else if (options.memory_format_opt().has_value()) {
      out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
    }
  }
}
// LITERALINCLUDE END: SET_OUTPUT

}  // namespace openreg
