// Kernels: the words of a fault. See docs/start/architecture.md.
#pragma once

namespace openreg::driver {

// What the kernel on this thread has said with orKernelFault(), and forgetting it.
const char* faultWords();
void clearFaultWords();

}  // namespace openreg::driver
