// The entry of every API function: its errors. See docs/start/architecture.md.
#include "call.h"

namespace openreg::driver {

constinit thread_local ThreadState thread;

orError_t refuseInTask() {
  return fail(orErrorNotPermitted,
              "called from inside a %s, which must not call the driver: make the call "
              "on the host, before the launch or after a synchronization",
              thread.activity == Activity::kKernel ? "kernel" : "host callback");
}

orError_t outOfHostMemory() {
  return fail(orErrorMemoryAllocation,
              "the driver cannot allocate host memory for its internal data");
}

}  // namespace openreg::driver
