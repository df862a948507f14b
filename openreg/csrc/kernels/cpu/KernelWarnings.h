// Warnings of kernels, given on a host thread; see docs/runtime/faults.md.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "csrc/Export.h"

namespace openreg::cpu {

// A kernel here is host code, and may warn: TORCH_WARN then runs on a thread of the
// driver, where Python's warning filters do not reach it. So kernels run under this
// handler. It keeps their warnings until a thread of the program waits for the device.
class OPENREG_EXPORT KernelWarnings final : public c10::WarningHandler {
 public:
  static KernelWarnings& get();

  // On the device side.
  void process(const c10::Warning& warning) override;

  // On the host: gives the warnings that were kept, in their order.
  void report();

 private:
  std::mutex mutex_;
  std::vector<c10::Warning> kept_;
  std::atomic<bool> any_ = false;
};

}  // namespace openreg::cpu
