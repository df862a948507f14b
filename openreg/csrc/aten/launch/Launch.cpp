// Puts a kernel on the current stream; see docs/operators/launch.md.
#include "csrc/aten/launch/Launch.h"

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

// VENDOR: how your driver launches a kernel, and how long the arguments must live
void enqueue(const char* name, c10::Device device, orKernel_t kernel, void* args,
             orHostFn_t destroy) {
  const OpenRegGuard scope(device.index());
  const orStream_t stream = native_handle(current_stream(device.index()));
  const orError_t error = orLaunchKernel(name, kernel, args, destroy, stream);
  if (C10_UNLIKELY(error != orSuccess)) {
    throwError(error, {__func__, __FILE__, uint32_t{__LINE__}},
               c10::str("cannot launch '", name, "' on ", device));
  }
}

}  // namespace openreg
