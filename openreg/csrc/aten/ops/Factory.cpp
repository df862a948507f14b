// Creates tensors and sets their storage; see docs/operators/minimal-copies.md.
#include "csrc/aten/ops/NativeFunctions.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/ResizeCommon.h>
#include <ATen/native/TensorFactories.h>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// Checks the options that all factories share, and returns the device on which to
// allocate.
DeviceIndex check_options(const char* op, std::optional<at::Layout> layout,
                          std::optional<at::Device> device,
                          std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided,
                              "openreg: ", op, " supports only strided tensors, not ",
                              *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  const bool has_index = device.has_value() && device->has_index();
  return has_index ? device->index() : current_device();
}

at::ScalarType type_or_default(std::optional<at::ScalarType> dtype) {
  return dtype.value_or(at::get_default_dtype_as_scalartype());
}

size_t item_size(std::optional<at::ScalarType> dtype) {
  return c10::elementSize(type_or_default(dtype));
}

// The type of a new tensor. ATen's own factories also warn of this one.
caffe2::TypeMeta type_of(std::optional<at::ScalarType> dtype) {
  const at::ScalarType type = type_or_default(dtype);
  if (C10_UNLIKELY(type == at::kComplexHalf)) {
    TORCH_WARN_ONCE("ComplexHalf support is experimental and many operators don't ",
                    "support it yet.");
  }
  return c10::scalarTypeToTypeMeta(type);
}

// LITERALINCLUDE START: MAKE_TENSOR
// A tensor over `bytes` of new memory on the current device, still without sizes.
// at::detail::empty_generic would do most of this, but it makes a plain StorageImpl.
at::Tensor make_tensor(size_t bytes, std::optional<at::ScalarType> dtype) {
  c10::Allocator* allocator = c10::GetAllocator(at::kPrivateUse1);
  c10::DataPtr data = allocator->allocate(bytes);
  const c10::Device device = data.device();
  auto storage = c10::make_storage_impl(  // calls the backend's StorageImpl factory
      c10::StorageImpl::use_byte_size_t(), bytes, std::move(data), allocator,
      /*resizable=*/true, device);
  return at::detail::make_tensor<c10::TensorImpl>(std::move(storage), kKeys,
                                                  type_of(dtype));
}
// LITERALINCLUDE END: MAKE_TENSOR

// LITERALINCLUDE START: FILL_NEW_MEMORY
// torch.use_deterministic_algorithms: new memory holds the same garbage in each run.
bool deterministic() {
  const at::Context& context = at::globalContext();
  return context.deterministicAlgorithms() &&
         context.deterministicFillUninitializedMemory();
}

at::Tensor fill_if_deterministic(at::Tensor tensor) {
  if (C10_UNLIKELY(deterministic())) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

void fill_added_if_deterministic(const at::Tensor& tensor, int64_t old_bytes) {
  if (C10_UNLIKELY(deterministic())) {
    at::native::fill_resize_deterministic_(tensor, old_bytes);
  }
}
// LITERALINCLUDE END: FILL_NEW_MEMORY

void grow(const c10::Storage& storage, size_t bytes) {
  if (bytes > storage.nbytes()) {
    at::native::resize_bytes_nocuda(storage, static_cast<int64_t>(bytes));
  }
}

}  // namespace

// LITERALINCLUDE START: EMPTY
at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> memory_format) {
  const OpenRegGuard scope(check_options("empty", layout, device, pin_memory));  // (1)
  at::detail::check_size_nonnegative(size);
  at::Tensor result = make_tensor(
      at::detail::computeStorageNbytesContiguous(size, item_size(dtype)), dtype);
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  if (memory_format.has_value() && *memory_format != at::MemoryFormat::Contiguous) {
    impl->empty_tensor_restride(*memory_format);
  }
  return fill_if_deterministic(std::move(result));
}
// LITERALINCLUDE END: EMPTY

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout,
                         std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  const OpenRegGuard scope(check_options("empty_strided", layout, device, pin_memory));
  at::detail::check_size_nonnegative(size);
  at::Tensor result = make_tensor(
      at::detail::computeStorageNbytes(size, stride, item_size(dtype)), dtype);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return fill_if_deterministic(std::move(result));
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> memory_format) {
  if (self.sizes() == size && !memory_format.has_value()) {
    return self;
  }
  TORCH_CHECK(memory_format != at::MemoryFormat::Preserve,
              "openreg: resize_ does not support torch.preserve_format; pass "
              "torch.contiguous_format, or none");
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  const size_t bytes = at::detail::computeStorageNbytesContiguous(
      size, self.itemsize(), static_cast<size_t>(self.storage_offset()));
  const auto old_bytes = static_cast<int64_t>(self.storage().nbytes());
  grow(self.storage(), bytes);
  impl->set_sizes_contiguous(size);
  if (memory_format.has_value()) {
    impl->empty_tensor_restride(*memory_format);
  }
  fill_added_if_deterministic(self, old_bytes);
  return self;
}

at::Tensor& set_source_storage_offset_(at::Tensor& self, at::Storage source,
                                       int64_t storage_offset, at::IntArrayRef size,
                                       at::IntArrayRef stride) {
  at::native::checkSetStorage(self, source, storage_offset, size, stride,
                              /*check_offset_in_bounds=*/false);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (stride.data() == nullptr) {
    grow(self.storage(), at::detail::computeStorageNbytesContiguous(
                             size, self.itemsize(), storage_offset));
    impl->set_storage_offset(storage_offset);
    impl->set_sizes_contiguous(size);
  } else {
    grow(self.storage(), at::detail::computeStorageNbytes(size, stride, self.itemsize(),
                                                          storage_offset));
    impl->set_sizes_and_strides(size, stride, storage_offset);
  }
  return self;
}

at::Tensor& set_source_storage_(at::Tensor& self, at::Storage source) {
  const auto elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_source_storage_offset_(self, std::move(source), 0, elements, {});
}

at::Tensor& set_source_tensor_(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) {
    return self;
  }
  return set_source_storage_offset_(self, source.storage(), source.storage_offset(),
                                    source.sizes(), source.strides());
}

at::Tensor& set_(at::Tensor& self) {
  const at::Tensor nothing = openreg::empty({0}, self.scalar_type(), std::nullopt,
                                            self.device(), std::nullopt, std::nullopt);
  return set_source_tensor_(self, nothing);
}

}  // namespace openreg
