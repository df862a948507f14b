// The devices and the calling thread's current one; see docs/runtime/device.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include "csrc/Export.h"
#include "csrc/runtime/errors/OpenRegException.h"

namespace openreg {

using c10::DeviceIndex;

// Number of devices; 0, never an exception, when the driver cannot tell.
OPENREG_EXPORT DeviceIndex device_count() noexcept;

// torch.AcceleratorError with the code orErrorInvalidDevice unless `device` is the
// index of a device. If the driver cannot tell how many there are, throws its reason.
// Takes numbers that do not fit into a DeviceIndex, so that these are not cut off.
OPENREG_EXPORT void check_device_index(int64_t device);

// The calling thread's current device.
OPENREG_EXPORT DeviceIndex current_device();

// Makes `device` current. torch.AcceleratorError if there is no such device.
OPENREG_EXPORT void set_device(DeviceIndex device);

// Makes `device` current and returns the one that was.
OPENREG_EXPORT DeviceIndex exchange_device(DeviceIndex device);

// Name, memory, version and processors of `device`.
OPENREG_EXPORT orDeviceProp device_properties(DeviceIndex device);

// The driver refuses everything in a child that was forked after it had started: memory
// of the child belongs to its parent.
inline bool in_forked_child() noexcept {
  int device = 0;
  return orGetDevice(&device) == orErrorInitializationError;
}

// Throws the driver's reason in such a child. Call it before a lock: the thread that
// held the lock at the fork does not exist there, and the child would wait forever.
OPENREG_EXPORT void refuse_in_forked_child();

// Waits for every stream of `device`; throws the fault of a kernel that failed there.
OPENREG_EXPORT void synchronize(DeviceIndex device);

}  // namespace openreg
