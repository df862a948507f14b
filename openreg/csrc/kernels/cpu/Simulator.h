// The simulator's delays and failures, for tests; see docs/runtime/errors.md.
#pragma once

#include <c10/core/Stream.h>
#include <openreg.h>

#include <optional>
#include <string>
#include <utility>

#include "csrc/Export.h"

namespace openreg {

// What openreg.h has under the heading "simulator", in the words of torch. A real
// device has nothing of this; your backend leaves the file out.

// No task of the stream starts until it is released as often as it was held.
OPENREG_EXPORT void sim_hold(const c10::Stream& stream);
OPENREG_EXPORT void sim_release(const c10::Stream& stream);

// The time that each task waits before it starts: microseconds, and the seed of random
// times, or 0. ValueError above 10 seconds.
OPENREG_EXPORT void sim_set_delay(unsigned int microseconds, unsigned int seed);
OPENREG_EXPORT std::pair<unsigned int, unsigned int> sim_delay();

// Lets one kernel fail: the one behind the next `after` of that name, or of any name.
OPENREG_EXPORT void sim_fail_kernel(const std::optional<std::string>& name, int after);
// Lets the next `count` allocations of the driver fail.
OPENREG_EXPORT void sim_fail_allocation(int count);

// Takes back all of the above and clears the faults of all devices.
OPENREG_EXPORT void sim_reset();

}  // namespace openreg
