// Raises, before a launch, the errors and warnings that a kernel would raise late; see
// docs/operators/meta-functions.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>

namespace openreg {

// LITERALINCLUDE START: HOST_CHECK
// An exception inside a kernel stops the device, so the host half of an operator checks
// the arguments first. `is_valid` is the quick check of the backend. If it fails,
// `on_host` runs the CPU operator on zeros. This throws torch's error, or returns if
// the arguments are unusual but valid.
void check_arguments(bool is_valid, c10::function_ref<void()> on_host);

// CPU tensors of zeros for `on_host`, with the sizes, strides and dtype of `tensor`.
at::Tensor zeros_for(const at::Tensor& tensor);
std::optional<at::Tensor> zeros_for(const std::optional<at::Tensor>& tensor);
// LITERALINCLUDE END: HOST_CHECK

// Resizes a tensor that the caller passed as out=; warns if it had elements.
void resize_out(const at::Tensor& out, at::IntArrayRef sizes);

// Writes `result` to a tensor that the caller passed as out=. If the sizes of this
// tensor must change, it also gets the strides of `result`; otherwise it keeps its
// strides.
at::Tensor& write_out(const at::Tensor& result, at::Tensor& out);

// Throws unless a tensor passed as out= has the dtype of the result.
void check_out_dtype(const at::Tensor& out, at::ScalarType dtype);

// Warns where a variance over `self` has no degree of freedom. `results`: how many.
void warn_of_freedom(const char* name, const at::Tensor& self, int64_t results,
                     const std::optional<at::Scalar>& correction);

// Whether no dimension but the first `batch` ones is of size 0.
bool has_elements(const at::Tensor& tensor, int64_t batch = 0);

// Of a quantized tensor. Throws unless there is a scale and a zero point for each
// element of dimension `axis`.
void check_channels(const char* name, const at::Tensor& self, const at::Tensor& scales,
                    const at::Tensor& zero_points, int64_t axis);

// The sizes of a reduction over `dim`, or over all dimensions if there is none.
c10::DimVector reduced_sizes(const at::Tensor& self, at::OptionalIntArrayRef dim,
                             bool keepdim);

bool none_below(at::IntArrayRef values, int64_t least);

// The layout in which ATen's kernels for images write: that of `tensor` if it has a
// batch, so that it is of `with_batch` dimensions.
at::MemoryFormat format_of(const at::Tensor& tensor, int64_t with_batch);

}  // namespace openreg
