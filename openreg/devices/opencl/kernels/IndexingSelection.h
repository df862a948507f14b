// What gather, scatter and advanced indexing have in common: elements of one tensor
// that indices select, and an element of another for each; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/DimVector.h>

#include <array>
#include <utility>

namespace ocl::opencl {

struct Selection {
  const char* name;     // of the operator, a literal, for errors
  at::Tensor dense;     // an element for each that is selected; `strides[0]`
  at::Tensor selected;  // where the indices point to; `strides[1]` without them
  at::Tensor index;     // int64 or int32: the first index of each element; `strides[2]`
  c10::DimVector sizes;
  std::array<c10::DimVector, 3> strides;
  c10::DimVector extents;  // of the dimensions of `selected` that have an index each
  c10::DimVector steps;    // their strides
  int64_t plane = 0;       // from an index of `index` to the next one of the element
  bool wraps = false;      // negative indices count from the end

  Selection(const char* name, at::Tensor dense, at::Tensor selected, at::Tensor index)
      : name(name),
        dense(std::move(dense)),
        selected(std::move(selected)),
        index(std::move(index)) {}
};

// An element of `dense` for each of `index`, which says where along `dim` of `selected`
// its partner is.
Selection along(const char* name, const at::Tensor& dense, const at::Tensor& selected,
                int64_t dim, const at::Tensor& index);

// The same for an index of one dimension: whole slices along `dim`.
Selection slices(const char* name, const at::Tensor& dense, const at::Tensor& selected,
                 int64_t dim, const at::Tensor& index);

// Each enqueues a kernel, or nothing and returns false: then the operator falls back.

// To `dense`, from `selected`.
bool read_selected(const Selection& selection);
// The other way.
bool write_selected(const Selection& selection);
// `dense` is not used.
bool fill_selected(const Selection& selection, const at::Scalar& value);
// selected = operation(selected, dense * factor), where `operation` is plus, times,
// least or largest. Several elements may have the same partner.
bool combine_selected(const Selection& selection, const char* operation,
                      const at::Scalar& factor = 1);

}  // namespace ocl::opencl
