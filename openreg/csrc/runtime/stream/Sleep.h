// Keeps a stream busy, for tests of streams; see docs/runtime/stream.md.
#pragma once

#include <cstdint>

#include "csrc/Export.h"

namespace openreg {

// Keeps the current stream of the current device busy for `cycles` ticks of a clock of
// 1 GHz, that is nanoseconds. ValueError if they are negative. As
// torch/csrc/cuda/Module.cpp, with a function of the host in place of a kernel: a
// device without any kernel can be tested, too.
OPENREG_EXPORT void sleep(int64_t cycles);

}  // namespace openreg
