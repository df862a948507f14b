// fill_ and zero_: the shortest native operators; see docs/operators/launch.md.
#include "csrc/aten/NativeFunctions.h"

#include "csrc/aten/kernels/Elementwise.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

// LITERALINCLUDE START: FILL
at::Tensor& fill_scalar_(at::Tensor& self, const at::Scalar& value) {
  check_scalar(value, self.scalar_type());                               // (1)
  launch("fill_", self.device(), [out = KernelTensorArg(self), value] {  // (2)
    kernels::fill(out.alias(), value);                                   // (3)
  });
  return self;  // (4)
}
// LITERALINCLUDE END: FILL

at::Tensor& fill_tensor_(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  if (value.device() != self.device()) {
    return fill_scalar_(self, value.item());  // waits for the value, as on CUDA
  }
  return self.copy_(value.is_alias_of(self) ? value.clone() : value);
}

at::Tensor& zero_(at::Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) {
    return fill_scalar_(self, 0);
  }
  check_storage(self);
  if (self.numel() >
      0) {  // zero is zero bytes in every dtype, also in those without kernels
    const c10::DeviceIndex device = self.device().index();
    const OpenRegGuard scope(device);
    OPENREG_CHECK(orMemsetAsync(self.mutable_data_ptr(), 0, self.nbytes(),
                                native_handle(current_stream(device))));
  }
  return self;
}

}  // namespace openreg
