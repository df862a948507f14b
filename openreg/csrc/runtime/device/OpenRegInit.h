// The one start of the device in a process, and forks; see docs/runtime/device.md.
#pragma once

#include "csrc/Export.h"

namespace openreg {

// Starts the device, once a process. Python's _lazy_init() and the hook init() both end
// here. RuntimeError in a child that was forked after the device had been started.
OPENREG_EXPORT void initialize();

// Whether this process has started the device, in whatever way.
OPENREG_EXPORT bool is_initialized() noexcept;

// Whether this process was forked after the device had been started: then it can never
// use it.
OPENREG_EXPORT bool is_in_bad_fork() noexcept;

}  // namespace openreg
