// The record of what the device does, for profilers. See docs/modules/profiler.md.
#pragma once

#include <atomic>
#include <cstdint>

#include "openreg_activity.h"

namespace openreg::driver {

// LITERALINCLUDE START: RECORDING
// Whether a client records: all that is read while none does. Acquire: a call that sees
// it must see the clock that was chosen before, also on processors that reorder loads.
extern std::atomic<bool> activityRecorded;
inline bool recording() { return activityRecorded.load(std::memory_order_acquire); }
// LITERALINCLUDE END: RECORDING

// The time of the clock that the recorder has chosen.
uint64_t activityTime();
// Delivers a record, unless the recording of its call has ended.
void deliver(const orActivity& activity);
// Counts the tasks of the recording that have not run.
void taskLaunched(uint64_t correlation);
void taskEnded(uint64_t correlation);

// Exists while a recorded call runs. Gives the call its number, which its tasks
// inherit, and delivers its record at the end.
class RecordedCall {
 public:
  explicit RecordedCall(const char* function);
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;

 private:
  orActivity record_;
};

struct Kernel;

// Whose work a task is, and the stream that runs it.
struct Origin {
  uint64_t correlation;  // 0: not recorded
  int device;
  int stream;
  const Kernel* failing = nullptr;  // of a graph, the kernel that fails on purpose
};

}  // namespace openreg::driver
