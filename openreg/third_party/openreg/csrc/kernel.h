// Kernels: the message of a fault. See docs/start/architecture.md.
#pragma once

namespace openreg::driver {

// The message of orKernelFault() on this thread, and its reset.
const char* faultWords();
void clearFaultWords();

}  // namespace openreg::driver
