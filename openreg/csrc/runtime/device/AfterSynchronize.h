// Something to do after the host has waited for the device; see docs/runtime/errors.md.
#pragma once

namespace openreg {

// Runs on the host thread that has waited; null for nothing. Kernels that warn set it:
// the host gives their warnings.
inline void (*after_synchronize)() = nullptr;

inline void synchronized() {
  if (after_synchronize != nullptr) {
    after_synchronize();
  }
}

}  // namespace openreg
