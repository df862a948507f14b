// What a kernel may do with the memory of a tensor; see docs/start/first-kernel.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/Export.h"

namespace openreg {

// The bytes from the first element of `tensor` to the end of its last. Throws if the
// storage is smaller, as after untyped_storage().resize_(0): a kernel would write into
// the memory of other tensors.
OPENREG_EXPORT size_t check_storage(const at::Tensor& tensor);

// The address at which a kernel may write. Lazy clones share memory until one of them
// is written, so this call may first copy the memory on the device.
OPENREG_EXPORT void* writable_address(const at::Tensor& tensor);

}  // namespace openreg
