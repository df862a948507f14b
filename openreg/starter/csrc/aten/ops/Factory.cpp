// Operators that create a tensor or change its storage; see
// docs/start/first-operators.md.
#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>

#include "csrc/aten/ops/NativeFunctions.h"
#include "csrc/runtime/device/StarterFunctions.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_EMPTY
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::ScalarType or_default(Maybe<at::ScalarType> dtype) {
  return dtype.value_or(at::get_default_dtype_as_scalartype());
}

// Raises for what the device does not have; the device on which to allocate.
// VENDOR: the dtypes and the layouts that tensors on your device may have
c10::Device check_options(Maybe<at::Layout> layout, Maybe<at::Device> device,
                          Maybe<bool> pin) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided,
                              "starter: only strided tensors are supported, not ",
                              *layout);
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
  const bool chosen = device.has_value() && device->has_index();
  return chosen ? *device : device_at(current_device());
}

}  // namespace
// LITERALINCLUDE END: STARTER_EMPTY

// LITERALINCLUDE START: STARTER_EMPTY_KERNELS
Tensor empty(IntArrayRef size, Maybe<at::ScalarType> dtype, Maybe<at::Layout> layout,
             Maybe<at::Device> device, Maybe<bool> pin,
             Maybe<at::MemoryFormat> format) {
  const c10::DeviceGuard scope(check_options(layout, device, pin));
  return at::detail::empty_generic(size, c10::GetAllocator(at::kPrivateUse1), kKeys,
                                   or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, Maybe<at::ScalarType> dtype,
                     Maybe<at::Layout> layout, Maybe<at::Device> device,
                     Maybe<bool> pin) {
  const c10::DeviceGuard scope(check_options(layout, device, pin));
  return at::detail::empty_strided_generic(
      size, stride, c10::GetAllocator(at::kPrivateUse1), kKeys, or_default(dtype));
}
// LITERALINCLUDE END: STARTER_EMPTY_KERNELS

// LITERALINCLUDE START: STARTER_RESIZE
namespace {

void grow(const c10::Storage& storage, size_t bytes) {
  if (bytes > storage.nbytes()) {
    at::native::resize_bytes_nocuda(storage, bytes);  // calls the hook
  }
}

}  // namespace

const Tensor& resize_(const Tensor& self, IntArrayRef size,
                      Maybe<at::MemoryFormat> format) {
  if (self.sizes() == size && !format.has_value()) {
    return self;
  }
  grow(self.storage(), at::detail::computeStorageNbytesContiguous(
                           size, self.itemsize(), self.storage_offset()));
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  if (format.has_value()) {
    self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
  return self;
}
// LITERALINCLUDE END: STARTER_RESIZE

// LITERALINCLUDE START: STARTER_SET
Tensor& set_source_storage_offset_(Tensor& self, at::Storage source, int64_t offset,
                                   IntArrayRef size, IntArrayRef stride) {
  at::native::checkSetStorage(self, source, offset, size, stride);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  if (stride.data() == nullptr) {
    impl->set_sizes_contiguous(size);
  } else {
    impl->set_sizes_and_strides(size, stride, offset);
  }
  grow(self.storage(), at::detail::computeStorageNbytes(self.sizes(), self.strides(),
                                                        self.itemsize(), offset));
  return self;
}
// LITERALINCLUDE END: STARTER_SET

// LITERALINCLUDE START: STARTER_SET_OTHERS
Tensor& set_source_storage_(Tensor& self, at::Storage source) {
  const auto elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_source_storage_offset_(self, std::move(source), 0, elements, {});
}

Tensor& set_source_tensor_(Tensor& self, const Tensor& source) {
  return self.is_same(source) ? self
                              : set_source_storage_offset_(
                                    self, source.storage(), source.storage_offset(),
                                    source.sizes(), source.strides());
}

// module.to("starter") keeps its parameters, and so the optimizer has them.
bool has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  return self.layout() == at::kStrided && from.layout() == at::kStrided;
}

void record_stream(Tensor& /*self*/, at::Stream /*stream*/) {}  // there is only one
// LITERALINCLUDE END: STARTER_SET_OTHERS

}  // namespace starter
