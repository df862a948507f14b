// The entry of every API function: the refusals. See docs/start/architecture.md.
#include "call.h"

namespace openreg::driver {

constinit thread_local ThreadState thread;

orError_t refuseInTask() {
  return fail(
      orErrorNotPermitted,
      "called from inside a %s. The device does not drive itself: make the call on "
      "the host, before the launch or after a synchronization",
      thread.activity == Activity::kKernel ? "kernel" : "host callback");
}

orError_t outOfHostMemory() {
  return fail(orErrorMemoryAllocation, "the driver got no host memory for its own use");
}

}  // namespace openreg::driver
