// Ends the work of autograd's threads; see docs/ship/known-crashes.md.
#pragma once

#include "csrc/Export.h"

namespace openreg {

// Returns when the autograd engine's thread of each device has let go of every backward
// pass that was made so far. Call it without Python's global lock. Never throws.
OPENREG_EXPORT void drain_autograd_threads() noexcept;

}  // namespace openreg
