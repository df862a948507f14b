// Waits for autograd's threads at exit; see docs/start/first-backend.md.
#pragma once

#include "csrc/Export.h"

namespace starter {

// LITERALINCLUDE START: STARTER_AUTOGRAD_EXIT_HEADER
// Returns when autograd's thread of each device has released every backward pass. Call
// it without the GIL.
STARTER_EXPORT void drain_autograd_threads() noexcept;
// LITERALINCLUDE END: STARTER_AUTOGRAD_EXIT_HEADER

}  // namespace starter
