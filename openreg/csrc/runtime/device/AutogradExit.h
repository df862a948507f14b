// Waits for autograd's threads at exit; see docs/ship/known-crashes.md.
#pragma once

#include "csrc/Export.h"

namespace openreg {

// Returns when the autograd engine's thread of each device has released every backward
// pass so far. Call it without Python's global lock. Never throws.
OPENREG_EXPORT void drain_autograd_threads() noexcept;

}  // namespace openreg
