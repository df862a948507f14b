// The devices, and the current device of the calling thread; see
// docs/runtime/device.md.
#include "csrc/runtime/device/OpenRegFunctions.h"

#include <atomic>

#include "csrc/runtime/device/AfterSynchronize.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegTrace.h"

namespace openreg {

// VENDOR: whether your driver may count its devices before a fork without starting them
DeviceIndex device_count() noexcept {
  // The number never changes. Cached, because the driver fails in a forked child, where
  // returning 0 would hide the driver's error. Relaxed: a thread that reads -1 calls
  // the driver.
  static std::atomic<int> known = -1;
  int count = known.load(std::memory_order_relaxed);
  if (count < 0) {
    if (orGetDeviceCount(&count) != orSuccess) {
      return 0;
    }
    known.store(count, std::memory_order_relaxed);
  }
  return static_cast<DeviceIndex>(count);
}

// LITERALINCLUDE START: CHECK_DEVICE_INDEX
void check_device_index(int64_t device) {
  int count = device_count();  // which even a forked child has
  if (count == 0) {
    OPENREG_CHECK(orGetDeviceCount(&count));  // says why there is none
  }
  if (device < 0 || device >= count) {
    throw c10::AcceleratorError(
        {__func__, __FILE__, uint32_t{__LINE__}}, orErrorInvalidDevice,
        c10::str("openreg: device index ", device,
                 " is out of range: this process sees ", count, " device(s)"));
  }
}
// LITERALINCLUDE END: CHECK_DEVICE_INDEX

DeviceIndex current_device() {
  int device = 0;
  OPENREG_CHECK(orGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void refuse_in_forked_child() {
  if (in_forked_child()) {
    current_device();  // throws
  }
}

void set_device(DeviceIndex device) { OPENREG_CHECK(orSetDevice(device)); }

DeviceIndex exchange_device(DeviceIndex device) {
  const DeviceIndex previous = current_device();
  if (device != previous) {
    set_device(device);
  }
  return previous;
}

orDeviceProp device_properties(DeviceIndex device) {
  orDeviceProp properties{};
  OPENREG_CHECK(orGetDeviceProperties(&properties, device));
  return properties;
}

void synchronize(DeviceIndex device) {
  const OpenRegGuard scope(device);
  trace(&PyTrace::trace_gpu_device_synchronization);
  OPENREG_CHECK(orDeviceSynchronize());
  synchronized();
}

}  // namespace openreg
