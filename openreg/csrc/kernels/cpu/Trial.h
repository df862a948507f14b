// Which dtypes a function of ATen takes, tried out on small tensors; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <c10/util/FunctionRef.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "csrc/Export.h"

namespace openreg::cpu {

// LITERALINCLUDE START: TRIAL
// ATen's CPU kernels choose their code by dtype when they run. On the device that is
// too late: an exception there stops it. So the host calls the function first, with
// small tensors, and remembers which dtypes passed.
class OPENREG_EXPORT Trial {
 public:
  // Whether a call of this signature has passed before. Costs a comparison, mostly.
  // Relaxed: the number says all, and no other memory is read because of it.
  bool has_passed(uint64_t signature) {
    return recent(signature).load(std::memory_order_relaxed) == signature ||
           is_known(signature);
  }
  void remember(uint64_t signature);
  // LITERALINCLUDE END: TRIAL

 private:
  static constexpr size_t kRecent = 64;
  std::atomic<uint64_t>& recent(uint64_t signature) {
    return recent_[(signature ^ signature >> 32) % kRecent];
  }
  bool is_known(uint64_t signature);

  std::array<std::atomic<uint64_t>, kRecent> recent_{};
  std::mutex mutex_;
  std::unordered_set<uint64_t> passed_;
};

// Runs `attempt` as device code would run, and throws what it throws if that is about
// dtypes. Returns whether it threw nothing: another exception is due to the small
// sizes, and the host half of the operator checks sizes. `name`: of the operator, for
// errors.
OPENREG_EXPORT bool run_trial(const char* name, c10::function_ref<void()> attempt);

}  // namespace openreg::cpu
