// The entry of every API function: its checks. See docs/start/architecture.md.
#pragma once

#include <cstdint>
#include <new>
#include <optional>

#include "activity.h"
#include "error.h"
#include "process.h"

namespace openreg::driver {

// What the calling thread is doing on the device side, if anything.
enum class Activity : uint8_t { kNone, kKernel, kCallback };

struct ThreadState {
  const char* function = "";            // the API function the thread is in
  int device = 0;                       // the current device
  Activity activity = Activity::kNone;  // set while the thread runs a task
  int depth = 0;                        // nested helping, see executor.cpp
  uint64_t correlation = 0;             // of the recorded call it is in, see activity.h
  // Which captures forbid its waits, see orThreadExchangeStreamCaptureMode.
  orStreamCaptureMode captureMode = orStreamCaptureModeGlobal;
};
extern constinit thread_local ThreadState thread;

// While it lives the thread is inside a task. Tasks nest when a thread helps a stream
// it waits for, so the previous state is restored afterwards.
class TaskScope {
 public:
  TaskScope(Activity activity, int device) : saved_(thread) {
    thread.activity = activity;
    thread.device = device;
  }
  ~TaskScope() { thread = saved_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  ThreadState saved_;
};

enum CallFlags : unsigned {
  kPlain = 0,
  kStart = 1,    // starts the driver when it is not running yet
  kInTasks = 2,  // allowed inside kernels and host callbacks
  kRecorded = 4  // shows in a profile
};

orError_t refuseInTask();
orError_t outOfHostMemory();

// Runs the body of API function `function`. No exception leaves the C interface.
template <unsigned flags = kStart, class Body>
orError_t call(const char* function, Body&& body) noexcept {
  thread.function = function;
  if (!(flags & kInTasks) && thread.activity != Activity::kNone) return refuseInTask();
  if (processState() != ProcessState::kRunning) [[unlikely]] {
    if (orError_t error = enterProcess(flags & kStart)) return error;
  }
  std::optional<RecordedCall> record;
  if ((flags & kRecorded) && recording()) [[unlikely]]
    record.emplace(function);
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return outOfHostMemory();
  }
}

}  // namespace openreg::driver
