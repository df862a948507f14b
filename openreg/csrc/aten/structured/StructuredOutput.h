// Gives the outputs of a structured operator their sizes; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

namespace openreg {

// How an operator was called: y = op(x), x.op_(), op(x, out=y).
enum class Form : uint8_t { Functional, Inplace, Out };

// Makes `out` (functional), checks it (in place), or checks and resizes it (out=), as
// the code does that torch generates for its own devices. `strides` may be empty: then
// the memory format of `options` decides.
void set_output(at::Tensor& out, Form form, at::IntArrayRef sizes,
                at::IntArrayRef strides, const at::TensorOptions& options);

}  // namespace openreg
