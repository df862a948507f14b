// The devices, and the current device of the calling thread; see
// docs/runtime/device.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include "csrc/Export.h"
#include "csrc/runtime/errors/OpenRegException.h"

namespace openreg {

using c10::DeviceIndex;

// Number of devices. Returns 0, and never throws, if the driver cannot count them.
OPENREG_EXPORT DeviceIndex device_count() noexcept;

// torch.AcceleratorError with the code orErrorInvalidDevice unless `device` is the
// index of a device. If the driver cannot count the devices, throws the driver's error.
// The parameter is an int64_t, so that a number that does not fit into a DeviceIndex is
// not truncated.
OPENREG_EXPORT void check_device_index(int64_t device);

// The calling thread's current device.
OPENREG_EXPORT DeviceIndex current_device();

// Makes `device` current. torch.AcceleratorError if there is no such device.
OPENREG_EXPORT void set_device(DeviceIndex device);

// Makes `device` current and returns the previous device.
OPENREG_EXPORT DeviceIndex exchange_device(DeviceIndex device);

// Name, memory, version and processors of `device`.
OPENREG_EXPORT orDeviceProp device_properties(DeviceIndex device);

// Whether every driver call fails, because this process was forked from a process that
// had started the driver.
inline bool in_forked_child() noexcept {
  int device = 0;
  return orGetDevice(&device) == orErrorInitializationError;
}

// Throws the driver's error in such a child. Call it before a lock: the thread that
// held the lock at the fork does not exist in the child, which would deadlock.
OPENREG_EXPORT void refuse_in_forked_child();

// Waits for every stream of `device`; throws the fault of a kernel that failed there.
OPENREG_EXPORT void synchronize(DeviceIndex device);

}  // namespace openreg
