// A tensor as a kernel sees it: address, shape; see docs/operators/registration.md.
#include "csrc/aten/native/KernelTensor.h"

#include <ATen/EmptyTensor.h>
#include <openreg.h>

#include "csrc/runtime/OpenRegFunctions.h"

namespace openreg {

void check_storage(const at::Tensor& tensor) {
  const size_t needed = at::detail::computeStorageNbytes(
      tensor.sizes(), tensor.strides(), tensor.itemsize(), tensor.storage_offset());
  const size_t there = tensor.storage().nbytes();
  TORCH_CHECK(tensor.numel() == 0 || needed <= there, "openreg: this tensor needs ",
              needed, " bytes, but its storage has ", there,
              ": was the storage resized?");
}

KernelTensor::KernelTensor(const at::Tensor& tensor) : dtype_(tensor.scalar_type()) {
  if (tensor.is_cpu()) {
    TORCH_CHECK(tensor.dim() == 0,
                "openreg: expected all tensors on the openreg device, but got a CPU "
                "tensor of shape ",
                tensor.sizes(), "; move it with .to('openreg')");
    const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    host_scalar_ = tensor.clone();
    host_scalar_.unsafeGetTensorImpl()->set_wrapped_number(wrapped);
    return;
  }
  sizes_ = tensor.sizes();
  strides_ = tensor.strides();
  bytes_ = at::detail::computeStorageNbytes(sizes_, strides_, tensor.itemsize());
  check_storage(tensor);
  if (bytes_ > 0) {
    // May copy memory that is shared until it is written: on its own device.
    const DeviceScope scope(tensor.device().index());
    address_ = tensor.unsafeGetTensorImpl()->mutable_data();
  }
  conj_ = tensor.is_conj();
  neg_ = tensor.is_neg();
}

// LITERALINCLUDE START: ON_DEVICE
at::Tensor KernelTensor::on_device() const {
  if (host_scalar_.defined()) {
    return host_scalar_;
  }
  void* address = orKernelAddress(address_);
  TORCH_CHECK(address != nullptr || bytes_ == 0, "openreg: ", address_,
              " is not device memory");
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes_,
      c10::DataPtr(address, c10::Device(c10::kCPU)), /*allocator=*/nullptr,
      /*resizable=*/false);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(dtype_));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_, strides_);
  tensor._set_conj(conj_);
  tensor._set_neg(neg_);
  return tensor;
}
// LITERALINCLUDE END: ON_DEVICE

}  // namespace openreg
