// Kernels: the words of a fault. See docs/runtime/errors.md.
#pragma once

#include <string>

namespace openreg {

// What the kernel on this thread said with orKernelFault() since the last call.
std::string takeFaultWords();

}  // namespace openreg
