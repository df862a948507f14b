// Which dtypes a function of ATen takes, tried out on small tensors; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/Trial.h"

#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include <mutex>
#include <string>
#include <string_view>

#include "csrc/aten/common/CpuDispatchGuard.h"
#include "csrc/kernels/cpu/LaunchState.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg::cpu {
namespace {

constexpr std::string_view kNotImplemented = "\" not implemented for '";

bool is_about_dtypes(std::string_view message) {
  for (const std::string_view part :
       {"dtype", "scalar type", "ScalarType", "overflow", "same type",
        "not supported on", "not supported for", "not implemented for", "be cast to",
        "Promotion for", "floating point", "complex"}) {
    if (message.find(part) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// For a scope: a warning that is given once per process is not used up by a trial. Of
// scopes that overlap in several threads, the last one restores the setting.
class WarnAlways {
 public:
  WarnAlways() {
    const std::lock_guard lock(mutex_);
    if (scopes_++ == 0) {
      before_ = c10::WarningUtils::get_warnAlways();
      c10::WarningUtils::set_warnAlways(true);
    }
  }
  ~WarnAlways() {
    const std::lock_guard lock(mutex_);
    if (--scopes_ == 0) {
      c10::WarningUtils::set_warnAlways(before_);
    }
  }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int scopes_ = 0;
  static inline bool before_ = false;
};

}  // namespace

bool Trial::is_known(uint64_t signature) {
  const std::lock_guard lock(mutex_);
  if (passed_.count(signature) == 0) {
    return false;
  }
  recent(signature).store(signature, std::memory_order_relaxed);  // see has_passed()
  return true;
}

void Trial::remember(uint64_t signature) {
  const std::lock_guard lock(mutex_);
  passed_.insert(signature);
  recent(signature).store(signature, std::memory_order_relaxed);  // see has_passed()
}

bool run_trial(const char* name, c10::function_ref<void()> attempt) {
  const IgnoreWarnings ignored;
  const WarnAlways again;
  const CpuDispatchGuard scope;
  const at::DisableRecordFunctionGuard unrecorded;
  const LaunchState state = LaunchState::of_caller(Precision::Read);
  const LaunchState::Scope settings(state);
  try {
    attempt();
    return true;
  } catch (const c10::NotImplementedError& error) {
    // ATen names its kernel there, such as "add_stub"; on this device it is the
    // operator.
    const std::string message = error.what_without_backtrace();
    const size_t at = message.find(kNotImplemented);
    TORCH_CHECK_NOT_IMPLEMENTED(false, at == std::string::npos
                                           ? message
                                           : c10::str('"', name, message.substr(at)));
  } catch (const c10::Error& error) {
    if (is_about_dtypes(error.what_without_backtrace())) {
      throw;
    }
  } catch (const std::exception& error) {
    TORCH_CHECK(!is_about_dtypes(error.what()), error.what());
  }
  return false;
}

}  // namespace openreg::cpu
