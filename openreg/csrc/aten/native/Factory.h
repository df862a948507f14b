// Operators that create tensors or change their storage; see docs/operators/minimal.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "csrc/Export.h"

// The signatures are those of the schemas in native_functions.yaml.
namespace openreg {

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

}  // namespace openreg
