// A kernel that only takes time, for tests of streams; see docs/runtime/stream.md.
#pragma once

#include <cstdint>

#include "csrc/Export.h"

namespace openreg {

// Keeps the current stream of the current device busy for `cycles` ticks of a clock of
// 1 GHz, that is nanoseconds. ValueError if they are negative.
OPENREG_EXPORT void sleep_(int64_t cycles);

}  // namespace openreg
