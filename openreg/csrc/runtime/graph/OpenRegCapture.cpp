// The random numbers of a graph that is captured; see docs/modules/graphs-capture.md.
#include "csrc/runtime/graph/OpenRegCapture.h"

#include <utility>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"

namespace openreg {

// LITERALINCLUDE START: CAPTURE_RESERVE
PhiloxKernelState Capture::reserve(
    const c10::intrusive_ptr<PhiloxGeneratorState>& words, DeviceIndex device,
    uint64_t blocks) {
  const auto take = [&](GraphDraws& draws) {
    const PhiloxState relative{0, std::exchange(draws.blocks, draws.blocks + blocks)};
    return PhiloxKernelState(relative, draws.start.get());
  };
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = draws_.find(words); entry != draws_.end()) {
      return take(entry->second);
    }
  }
  const OpenRegGuard scope(device);
  // Not from the graph's pool: it is written before the graph runs, and an earlier task
  // may have used that memory for something else.
  GraphDraws first{OpenRegDeviceAllocator::get().allocate_shared(sizeof(PhiloxState))};
  const std::lock_guard lock(mutex_);
  return take(draws_.try_emplace(words, std::move(first)).first->second);
}
// LITERALINCLUDE END: CAPTURE_RESERVE

CapturedRngStates Capture::take_draws() {
  const std::lock_guard lock(mutex_);
  return std::exchange(draws_, {});
}

}  // namespace openreg
