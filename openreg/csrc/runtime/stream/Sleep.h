// Keeps a stream busy, for tests of streams; see docs/runtime/stream.md.
#pragma once

#include <cstdint>

#include "csrc/Export.h"

namespace openreg {

// Enqueues a kernel that takes `nanoseconds`, for a trace. While it is null, because no
// file of csrc/kernels sets it, a host function sleeps, so a device without kernels can
// also be tested.
inline void (*sleep_kernel)(int64_t nanoseconds) = nullptr;

// Keeps the current stream of the current device busy for `cycles` ticks of a clock of
// 1 GHz, that is nanoseconds. ValueError if they are negative. As
// torch/csrc/cuda/Module.cpp.
OPENREG_EXPORT void sleep(int64_t cycles);

}  // namespace openreg
