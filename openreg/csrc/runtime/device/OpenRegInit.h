// Starts the device once per process, and detects forks; see docs/runtime/device.md.
#pragma once

#include "csrc/Export.h"

namespace openreg {

// Starts the device, once per process. Python's _lazy_init() and the hook init() both
// end here. RuntimeError in a child that was forked after the device had been started.
OPENREG_EXPORT void initialize();

// Whether this process has started the device, by any call.
OPENREG_EXPORT bool is_initialized() noexcept;

// Whether this process was forked after the device had been started, and can therefore
// never use it.
OPENREG_EXPORT bool is_in_bad_fork() noexcept;

}  // namespace openreg
