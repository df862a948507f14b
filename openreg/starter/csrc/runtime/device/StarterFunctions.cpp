// The devices, and the start of the driver; see docs/start/first-backend.md.
#include "csrc/runtime/device/StarterFunctions.h"

#include "csrc/runtime/errors/StarterException.h"

// LITERALINCLUDE START: STARTER_DEVICES
namespace starter {

// VENDOR: whether your driver may count its devices before a fork without starting them
c10::DeviceIndex device_count() noexcept {
  static const int count = [] {  // cached: the driver fails in a child
    int answer = 0;
    return orGetDeviceCount(&answer) == orSuccess ? answer : 0;
  }();
  return static_cast<c10::DeviceIndex>(count);
}

c10::DeviceIndex current_device() {
  int device = 0;
  STARTER_CHECK(orGetDevice(&device));
  return static_cast<c10::DeviceIndex>(device);
}

void set_device(c10::DeviceIndex device) { STARTER_CHECK(orSetDevice(device)); }
// LITERALINCLUDE END: STARTER_DEVICES

// LITERALINCLUDE START: STARTER_INITIALIZE
// VENDOR: how your driver notices a fork; without its own state, compare getpid()
void initialize() {
  TORCH_CHECK(!is_in_bad_fork(),
              "Cannot re-initialize starter in forked subprocess. To use starter with "
              "multiprocessing, you must use the 'spawn' start method");
  STARTER_CHECK(orInit());
  static_cast<void>(device_count());
}

bool is_initialized() noexcept { return orGetDriverState() == orDriverRunning; }

bool is_in_bad_fork() noexcept { return orGetDriverState() == orDriverForked; }

}  // namespace starter
// LITERALINCLUDE END: STARTER_INITIALIZE
