// Runs operators on the CPU; see docs/start/first-operators.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "csrc/Export.h"

namespace starter {

// LITERALINCLUDE START: STARTER_FALLBACK_HEADER
// How often each operator ran on the CPU instead of the device.
STARTER_EXPORT std::map<std::string, int64_t> fallback_counts();
// LITERALINCLUDE END: STARTER_FALLBACK_HEADER

}  // namespace starter
