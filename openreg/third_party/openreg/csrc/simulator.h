// The simulator: delays and failures on purpose. See docs/runtime/errors.md.
#pragma once

#include <atomic>
#include <cstdint>

#include "openreg.h"

namespace openreg::driver {

class Stream;

// Whether any function below has something to do: all that is read while the simulator
// is off. Relaxed: the functions lock what they read. A thread that runs a task has
// synchronized with the thread that enqueued it, and so reads the earlier settings of
// that thread.
extern std::atomic<bool> simulatorActive;
inline bool simulatorActs() { return simulatorActive.load(std::memory_order_relaxed); }

// Called by the device. The thread that is about to run the task at `position` of
// `stream` waits here as long as the simulator requires; returns early when the process
// exits.
void beforeTask(Stream& stream, uint64_t position);
// Whether the launch of a kernel of that name, or this allocation, must fail. Counts
// it.
bool takeKernelFailure(const char* name);
bool takeAllocationFailure();
// What a launch that is to fail runs instead of the kernel.
orError_t failOnPurpose(void* args);

// While a stream is held, launches must not wait, because the launching thread may hold
// it.
bool anyHeld();
void releaseHolds(Stream& stream);
// Makes threads that wait in beforeTask() check the process state again.
void wakeHeld();
// Everything off, except the delay of the environment. Only after or inside
// loadConfig().
void resetSimulator();

}  // namespace openreg::driver
