// Which dtypes a function of ATen takes, tried out on small tensors; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <c10/util/FunctionRef.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "csrc/Export.h"

namespace openreg::cpu {

// LITERALINCLUDE START: TRIAL
// ATen's CPU kernels choose their code by dtype when they run. On the device that is
// too late: an exception there stops it. So the host calls the function first, with
// small tensors, and remembers which dtypes passed.
class OPENREG_EXPORT Trial {
 public:
  // Whether a call of this signature has passed before. Costs a comparison, mostly.
  bool has_passed(uint64_t signature);
  void remember(uint64_t signature);

 private:
  std::atomic<uint64_t> last_ = 0;
  std::mutex mutex_;
  std::vector<uint64_t> passed_;
};

// Runs `attempt` as device code would run, and throws what it throws if that is about
// dtypes. Returns whether it threw nothing: another exception is due to the small
// sizes, and the host half of the operator checks sizes. `name`: of the operator, for
// errors.
OPENREG_EXPORT bool run_trial(const char* name, c10::function_ref<void()> attempt);
// LITERALINCLUDE END: TRIAL

}  // namespace openreg::cpu
