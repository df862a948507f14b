// The process: start, fork and exit; see docs/opencl/driver.md.
#include "process.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "config.h"
#include "device.h"
#include "stream.h"

namespace oclrt {

thread_local ThreadState thread;

namespace {

std::atomic<orDriverState> state = orDriverFresh;

// Commands must not run while the libraries that they belong to are torn down. One that
// does not end must not keep the process alive, hence the limit.
void on_exit() {
  if (state != orDriverRunning) return;
  state = orDriverExiting;
  if (!thread.in_task) drain_streams(std::chrono::seconds(2));
}

// OpenCL: its threads are lost in a fork, without an error. Instead, a fork handler
// marks the child, and every call checks the mark before it takes a lock. (Comparing
// getpid() does the same, for a system call in each call.)
void on_fork_in_child() {
  if (state != orDriverFresh) state = orDriverForked;
}

orError_t start_driver() {
  static std::mutex mutex;
  // Never destroyed: threads may call the driver while the process exits.
  static auto& refusal = *new std::string;
  static orError_t code = orSuccess;
  const std::lock_guard lock(mutex);
  if (state == orDriverRunning) return orSuccess;
  if (orError_t error = load_config()) return error;
  if (config().device_count == 0) {
    return fail(orErrorNoDevice,
                "%s is 0, or no implementation of OpenCL is installed: no file in "
                "/etc/OpenCL/vendors names one. Install one, for example PoCL "
                "(pocl-opencl-icd)",
                OCLRT_VARIABLE("DEVICE_COUNT"));
  }
  if (code == orSuccess) {
    code = start_platform();
    if (code != orSuccess) refusal = orGetErrorDetail();
  }
  if (code != orSuccess) return fail(code, "OpenCL did not start: %s", refusal.c_str());
  // Registered after OpenCL's own functions, and so called before them.
  std::atexit(on_exit);
  pthread_atfork(nullptr, nullptr, on_fork_in_child);
  state.store(orDriverRunning, std::memory_order_release);
  return orSuccess;
}

}  // namespace

orDriverState state_of_process() { return state.load(std::memory_order_acquire); }

orError_t enter_process(bool start) {
  switch (state_of_process()) {
    case orDriverFresh:
      return start ? start_driver() : orSuccess;
    case orDriverRunning:
      return orSuccess;
    case orDriverForked:
      return fail(
          orErrorInitializationError,
          "this process was forked from one that had already used the device. The "
          "threads of OpenCL do not survive a fork: start child processes with the "
          "'spawn' method, or fork before the first use of the device");
    case orDriverExiting:
      return fail(orErrorInitializationError,
                  "the process is exiting, and the device is shut down");
  }
  return orErrorUnknown;
}

}  // namespace oclrt

orError_t orInit(void) {
  return oclrt::call(__func__, oclrt::kStart, [] { return orSuccess; });
}

orDriverState orGetDriverState(void) { return oclrt::state_of_process(); }
