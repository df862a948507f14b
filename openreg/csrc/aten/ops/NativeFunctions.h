// The operators that every backend must implement, because they create, view and copy
// tensors; see docs/operators/minimal.md.
//
// The signatures are those of the schemas in torch's native_functions.yaml.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "csrc/Export.h"

namespace openreg {

// ops/Factory.cpp
OPENREG_EXPORT at::Tensor empty(at::IntArrayRef size,
                                std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout,
                                std::optional<at::Device> device,
                                std::optional<bool> pin_memory,
                                std::optional<at::MemoryFormat> memory_format);
OPENREG_EXPORT at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                                        std::optional<at::ScalarType> dtype,
                                        std::optional<at::Layout> layout,
                                        std::optional<at::Device> device,
                                        std::optional<bool> pin_memory);
const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> memory_format);
at::Tensor& set_(at::Tensor& self);
at::Tensor& set_source_storage_(at::Tensor& self, at::Storage source);
at::Tensor& set_source_storage_offset_(at::Tensor& self, at::Storage source,
                                       int64_t storage_offset, at::IntArrayRef size,
                                       at::IntArrayRef stride);
at::Tensor& set_source_tensor_(at::Tensor& self, const at::Tensor& source);

// ops/View.cpp
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size,
                      at::IntArrayRef stride, std::optional<int64_t> storage_offset);
at::Tensor view(const at::Tensor& self, at::IntArrayRef size);
at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size,
                         at::IntArrayRef stride);
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size,
                  int64_t step);
at::Tensor view_as_real(const at::Tensor& self);
at::Tensor view_as_complex(const at::Tensor& self);
bool is_set_to(const at::Tensor& self, const at::Tensor& tensor);
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from);

// ops/Copy.cpp
// Copies `self` to `dst`, at least one of them on an openreg device, broadcasting and
// converting the dtype. Waits unless `non_blocking` and the memory allows it.
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);
// The same, after giving `dst` the sizes of `self`.
at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst);
// The value of a tensor of one element; waits for it.
at::Scalar local_scalar_dense(const at::Tensor& self);
// Records in the allocator that work on `stream` uses the memory of `self`.
void record_stream(at::Tensor& self, at::Stream stream);

// ---- Autograd ----

// ops/CosineSimilarity.cpp
// The signatures are those of the schema in native_functions.yaml.
at::Tensor cosine_similarity_autograd(const at::Tensor& x1, const at::Tensor& x2,
                                      int64_t dim, double eps);

}  // namespace openreg
