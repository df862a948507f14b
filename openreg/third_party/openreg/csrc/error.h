// Errors: how a failing function says what was wrong. See docs/start/architecture.md.
#pragma once

#include "openreg.h"

namespace openreg::driver {

// Stores "orFunction(): message" as the thread's error detail and returns `code`.
// call() has stored the name of the function, see call.h.
[[gnu::format(printf, 2, 3)]] orError_t fail(orError_t code, const char* format, ...);

}  // namespace openreg::driver
