// What a kernel may do with the memory of a tensor; see docs/start/first-kernel.md.
#include "csrc/aten/common/TensorMemory.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/impl/COW.h>

#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {

size_t check_storage(const at::Tensor& tensor) {
  const size_t bytes = tensor.is_non_overlapping_and_dense()
                           ? tensor.nbytes()
                           : at::detail::computeStorageNbytes(
                                 tensor.sizes(), tensor.strides(), tensor.itemsize());
  const auto offset = static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
  const size_t there = tensor.storage().nbytes();
  TORCH_CHECK(bytes == 0 || offset + bytes <= there, "openreg: this tensor needs ",
              offset + bytes, " bytes, but its storage has ", there,
              ". Resize the storage, or use a view that fits into it");
  return bytes;
}

void* writable_address(const at::Tensor& tensor) {
  if (c10::impl::cow::is_cow_data_ptr(tensor.storage().data_ptr())) {
    const OpenRegGuard scope(tensor.device().index());
    return tensor.mutable_data_ptr();
  }
  return tensor.mutable_data_ptr();
}

}  // namespace openreg
