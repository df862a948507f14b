// A tensor as a kernel gets it: address, shape; see docs/operators/launch.md.
#include "csrc/aten/launch/KernelTensorArg.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/impl/COW.h>
#include <openreg.h>

#include <cstring>
#include <type_traits>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {

static_assert(!std::is_constructible_v<KernelTensorArg, at::Tensor>,
              "a temporary is freed before the launch");

KernelTensorArg::KernelTensorArg(const at::Tensor& tensor, bool writable)
    : dtype_(tensor.scalar_type()),
      conj_(tensor.is_conj()),
      neg_(tensor.is_neg()),
      on_host_(tensor.is_cpu()),
      wrapped_number_(tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
  if (on_host_) {
    TORCH_CHECK(tensor.dim() == 0 && !writable,
                "openreg: expected all tensors on the openreg device, but got a CPU "
                "tensor of shape ",
                tensor.sizes(), "; move it with .to('openreg')");
    shape_.resize(0);
    bytes_ = tensor.itemsize();
    check_storage(tensor);
    std::memcpy(number_.data(), tensor.const_data_ptr(), bytes_);
    return;
  }
  shape_.set_sizes(tensor.sizes());
  shape_.set_strides(tensor.strides());
  bytes_ = check_storage(tensor);
  if (bytes_ > 0) {
    address_ = writable ? writable_address(tensor) : tensor.const_data_ptr();
  }
}

// LITERALINCLUDE START: ALIAS
at::Tensor KernelTensorArg::alias() const {
  const void* address = on_host_ ? number_.data() : orKernelAddress(address_);  // (1)
  TORCH_CHECK(address != nullptr || bytes_ == 0, "openreg: ", address_,
              " is not device memory");
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes_,
      c10::DataPtr(const_cast<void*>(address), c10::Device(c10::kCPU)),  // (2)
      /*allocator=*/nullptr, /*resizable=*/false);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(dtype_));
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(shape_.sizes_arrayref(), shape_.strides_arrayref());
  if (wrapped_number_) {
    impl->set_wrapped_number(true);
  }
  tensor._set_conj(conj_);  // (3)
  tensor._set_neg(neg_);
  return tensor;
}
// LITERALINCLUDE END: ALIAS

}  // namespace openreg
