// The devices and the calling thread's current one; see docs/start/architecture.md.
#include "csrc/runtime/OpenRegFunctions.h"

namespace openreg {

DeviceIndex device_count() noexcept {
  int count = 0;
  if (orGetDeviceCount(&count) != orSuccess) {
    return 0;
  }
  return static_cast<DeviceIndex>(count);
}

void check_device_index(DeviceIndex device) {
  int count = 0;
  OPENREG_CHECK(orGetDeviceCount(&count));
  TORCH_CHECK_VALUE(device >= 0 && device < count, "openreg: device index ",
                    static_cast<int>(device), " is out of range: this process sees ",
                    count, " device(s)");
}

DeviceIndex current_device() {
  int device = 0;
  OPENREG_CHECK(orGetDevice(&device));
  return static_cast<DeviceIndex>(device);
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
  const DeviceScope scope(device);
  OPENREG_CHECK(orDeviceSynchronize());
}

}  // namespace openreg
