// The record of what the device does, for profilers. See docs/modules/profiler.md.
#include "activity.h"

#include <ctime>
#include <mutex>
#include <shared_mutex>

#include "call.h"

namespace openreg::driver {

std::atomic<bool> activityRecorded = false;

namespace {

uint64_t nanosecondsSince1970() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

std::atomic<uint64_t> lastCorrelation = 0;
std::atomic<orActivityClock_t> clockNow = nanosecondsSince1970;

// Shared: delivering a record. Exclusive: start and stop, so that no record is
// delivered after a stop. Never destroyed: threads may use it while the process exits.
std::shared_mutex& recordersMutex = *new std::shared_mutex;
orActivityFn_t receiver = nullptr;
void* receiverData = nullptr;
uint64_t first = 0;  // the number of the first call of this recording
std::atomic<size_t> unfinished = 0;

bool belongs(uint64_t correlation) {
  return receiver != nullptr && correlation >= first;
}

}  // namespace

// Sequentially consistent, as the number that a call takes before: a call with a number
// of a recording uses the clock of that recording.
uint64_t activityTime() { return clockNow.load()(); }

void deliver(const orActivity& activity) {
  std::shared_lock lock(recordersMutex);
  if (!belongs(activity.correlation)) return;
  TaskScope scope(Activity::kCallback, thread.device);  // it must not call the driver
  receiver(&activity, receiverData);
}

void taskLaunched(uint64_t correlation) {
  std::shared_lock lock(recordersMutex);
  if (belongs(correlation)) ++unfinished;
}

void taskEnded(uint64_t correlation) {
  std::shared_lock lock(recordersMutex);
  if (belongs(correlation)) --unfinished;
}

RecordedCall::RecordedCall(const char* function)
    : record_{orActivityCall,
              function,
              ++lastCorrelation,
              activityTime(),
              0,
              thread.device,
              -1,
              0} {
  thread.correlation = record_.correlation;
}

RecordedCall::~RecordedCall() {
  thread.correlation = 0;
  record_.end = activityTime();
  deliver(record_);
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orActivityStart(orActivityFn_t fn, orActivityClock_t clock, void* user) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (fn == nullptr) return fail(orErrorInvalidValue, "fn is null");
    std::lock_guard lock(recordersMutex);
    if (receiver != nullptr) {
      return fail(orErrorNotPermitted,
                  "a recording is already active: stop it with orActivityStop() first");
    }
    receiver = fn;
    receiverData = user;
    clockNow = clock != nullptr ? clock : nanosecondsSince1970;
    first = lastCorrelation + 1;
    unfinished = 0;
    activityRecorded = true;
    return orSuccess;
  });
}

orError_t orActivityStop(size_t* count) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (count == nullptr) return fail(orErrorInvalidValue, "unfinished is null");
    std::lock_guard lock(recordersMutex);
    if (receiver == nullptr) {
      return fail(orErrorInvalidValue,
                  "no recording is active: start one with orActivityStart()");
    }
    receiver = nullptr;
    activityRecorded = false;
    *count = unfinished;
    return orSuccess;
  });
}
