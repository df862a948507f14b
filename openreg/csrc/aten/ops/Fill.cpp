// zero_, and fill_ with a tensor: no kernels; see docs/operators/registration.md.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

at::Tensor& fill_tensor_(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  if (value.device() != self.device()) {
    return self.fill_(value.item());  // waits for the value, as on CUDA
  }
  return self.copy_(value.is_alias_of(self) ? value.clone() : value);
}

// Zero is zero bytes in every dtype, also in those without kernels.
at::Tensor& zero_(at::Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) {
    return self.fill_(0);
  }
  check_storage(self);
  if (self.numel() > 0) {
    const c10::DeviceIndex device = self.device().index();
    const OpenRegGuard scope(device);
    OPENREG_CHECK(orMemsetAsync(self.mutable_data_ptr(), 0, self.nbytes(),
                                native_handle(current_stream(device))));
  }
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("fill_.Tensor", fill_tensor_);
  m.impl("zero_", zero_);
}

}  // namespace openreg
