// The devices, and the start of the driver; see docs/start/first-backend.md.
#pragma once

#include <c10/core/Device.h>

#include "csrc/Export.h"

// LITERALINCLUDE START: STARTER_FUNCTIONS
namespace starter {

STARTER_EXPORT c10::DeviceIndex device_count() noexcept;
c10::DeviceIndex current_device();
void set_device(c10::DeviceIndex device);

STARTER_EXPORT void initialize();
STARTER_EXPORT bool is_initialized() noexcept;
STARTER_EXPORT bool is_in_bad_fork() noexcept;

inline c10::Device device_at(c10::DeviceIndex index) {
  return {c10::DeviceType::PrivateUse1, index};
}

}  // namespace starter
// LITERALINCLUDE END: STARTER_FUNCTIONS
