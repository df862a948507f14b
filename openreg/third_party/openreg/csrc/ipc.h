// Memory of other processes: what an address is. See docs/frontend/ipc.md.
#pragma once

#include "openreg.h"

namespace openreg::driver {

// What an address behind this process's own memory is: `type` says whether it is open.
orPointerAttributes importedAttributes(const void* ptr);

}  // namespace openreg::driver
