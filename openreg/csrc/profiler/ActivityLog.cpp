// Collects the driver's records during a profile; see docs/modules/profiler.md.
#include "csrc/profiler/ActivityLog.h"

#include <c10/util/Exception.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <exception>

namespace openreg {
namespace {

uint64_t next_number() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

ActivityLog::ActivityLog() : number_(next_number()) {}

ActivityLog::~ActivityLog() { stop(); }

// VENDOR: the activity records of your driver, as CUPTI gives them for CUDA
// LITERALINCLUDE START: ACTIVITY_IDS
// Each thread has its own. Entries of another log are dropped.
ActivityLog::Ids& ActivityLog::ids() const {
  static thread_local Ids ids;
  if (ids.log != number_) {
    ids = {number_, {}, {}};
  }
  return ids;
}

// On the thread that made the call, or on the one that ran the work.
void ActivityLog::receive(const orActivity* activity, void* log) noexcept {
  auto& self = *static_cast<ActivityLog*>(log);
  try {
    LoggedActivity logged{*activity, 0, 0, {}};
    if (activity->kind == orActivityCall) {
      const Ids& ids = self.ids();
      logged.thread = static_cast<int32_t>(syscall(SYS_gettid));
      logged.op = ids.ops.empty() ? 0 : ids.ops.back();
      logged.ranges = ids.ranges;
    }
    const std::lock_guard lock(self.mutex_);
    self.activities_.push_back(std::move(logged));
  } catch (const std::exception&) {
    // No memory: the profile lacks a record, the program continues.
  }
}
// LITERALINCLUDE END: ACTIVITY_IDS

// LITERALINCLUDE START: ACTIVITY_START
void ActivityLog::start() {
  clock_.emplace();  // (1)
  const orError_t error = orActivityStart(
      &ActivityLog::receive, [] { return uint64_t{c10::getApproximateTime()}; }, this);
  recording_ = error == orSuccess;
  if (!recording_) {
    TORCH_WARN("openreg: the profile will not contain any work of the device: ",
               orGetErrorDetail());
  }
}

void ActivityLog::stop() {
  if (!recording_ || orActivityStop(&unfinished_) != orSuccess) {
    return;
  }
  recording_ = false;
  const auto to_unix = clock_->makeConverter();  // (2)
  for (auto& [activity, thread, op, ranges] : activities_) {
    activity.begin = static_cast<uint64_t>(to_unix(activity.begin));
    activity.end = static_cast<uint64_t>(to_unix(activity.end));
  }
}
// LITERALINCLUDE END: ACTIVITY_START

}  // namespace openreg
