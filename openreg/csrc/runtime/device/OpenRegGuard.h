// Makes a device current for a scope; see docs/runtime/guard.md.
#pragma once

#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

// LITERALINCLUDE START: SCOPED_GUARD
// Makes a device current for a scope: for use inside the backend, like CUDAGuard. It is
// cheaper than c10::DeviceGuard, which must look up the guard first.
class OpenRegGuard {
 public:
  explicit OpenRegGuard(DeviceIndex device) : previous_(exchange_device(device)) {}
  ~OpenRegGuard() { orSetDevice(previous_); }  // cannot fail: it was current
  OpenRegGuard(const OpenRegGuard&) = delete;
  OpenRegGuard& operator=(const OpenRegGuard&) = delete;

 private:
  DeviceIndex previous_;
};
// LITERALINCLUDE END: SCOPED_GUARD

}  // namespace openreg
