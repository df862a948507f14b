// Starts the device once per process, and detects forks; see docs/runtime/device.md.
#include "csrc/runtime/device/OpenRegInit.h"

#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

// VENDOR: how your driver notices a fork; without its own state, compare getpid()
// LITERALINCLUDE START: INITIALIZE
void initialize() {
  TORCH_CHECK(!is_in_bad_fork(),  // (1)
              "Cannot re-initialize openreg in forked subprocess. To use openreg with "
              "multiprocessing, you must use the 'spawn' start method");
  OPENREG_CHECK(orInit());            // (2)
  static_cast<void>(device_count());  // cached for forked children
}

bool is_initialized() noexcept { return orGetDriverState() == orDriverRunning; }

bool is_in_bad_fork() noexcept { return orGetDriverState() == orDriverForked; }  // (3)
// LITERALINCLUDE END: INITIALIZE

}  // namespace openreg
