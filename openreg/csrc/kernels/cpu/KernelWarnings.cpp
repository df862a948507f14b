// Warnings of kernels, given on a host thread; see docs/runtime/faults.md.
#include "csrc/kernels/cpu/KernelWarnings.h"

#include <utility>

#include "csrc/runtime/device/AfterSynchronize.h"

namespace openreg::cpu {

KernelWarnings& KernelWarnings::get() {
  static auto* handler = new KernelWarnings;  // kernels may still run at exit
  return *handler;
}

// LITERALINCLUDE START: KERNEL_WARNINGS
void KernelWarnings::process(const c10::Warning& warning) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(warning);
  any_ = true;
}

// Relaxed: a thread that has waited for a kernel sees what the kernel set, and the lock
// guards the warnings.
void KernelWarnings::report() {
  if (!any_.load(std::memory_order_relaxed)) {  // (1)
    return;
  }
  std::vector<c10::Warning> warnings;
  {
    const std::lock_guard lock(mutex_);
    warnings.swap(kept_);  // (2)
    any_ = false;
  }
  for (const c10::Warning& warning : warnings) {
    c10::warn(warning);
  }
}
// LITERALINCLUDE END: KERNEL_WARNINGS

namespace {
[[maybe_unused]] const bool warnings_registered = [] {
  after_synchronize = [] { KernelWarnings::get().report(); };
  return true;
}();
}  // namespace

}  // namespace openreg::cpu
