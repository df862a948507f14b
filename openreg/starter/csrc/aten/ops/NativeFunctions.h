// The operators of the backend; see docs/start/first-operators.md.
#pragma once

#include <ATen/core/Tensor.h>

// LITERALINCLUDE START: STARTER_DECLARATIONS
namespace starter {

using at::IntArrayRef;
using at::Tensor;
template <class T>
using Maybe = std::optional<T>;

Tensor empty(IntArrayRef size, Maybe<at::ScalarType> dtype, Maybe<at::Layout> layout,
             Maybe<at::Device> device, Maybe<bool> pin, Maybe<at::MemoryFormat> format);
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, Maybe<at::ScalarType> dtype,
                     Maybe<at::Layout> layout, Maybe<at::Device> device,
                     Maybe<bool> pin);
const Tensor& resize_(const Tensor& self, IntArrayRef size,
                      Maybe<at::MemoryFormat> format);
Tensor& set_source_storage_(Tensor& self, at::Storage source);
Tensor& set_source_storage_offset_(Tensor& self, at::Storage source, int64_t offset,
                                   IntArrayRef size, IntArrayRef stride);
Tensor& set_source_tensor_(Tensor& self, const Tensor& source);
bool has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from);
void record_stream(Tensor& self, at::Stream stream);

Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking);
Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst);

}  // namespace starter
// LITERALINCLUDE END: STARTER_DECLARATIONS
