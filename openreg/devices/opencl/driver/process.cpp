// The process: start, fork and exit; see docs/opencl/driver.md.
#include "process.h"

#include <pthread.h>
#include <unistd.h>

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

// The process that started OpenCL, else 0. Its threads exist in no other process.
std::atomic<pid_t> started_by = 0;
std::atomic<bool> exiting = false;

// Commands must not run while the libraries that they belong to are torn down. One that
// does not end must not keep the process alive, hence the limit.
void on_exit() {
  if (started_by.load() != getpid()) return;
  exiting = true;
  if (!thread.in_task) drain_streams(std::chrono::seconds(2));
}

orError_t start_driver() {
  static std::mutex mutex;
  // Never destroyed: threads may call the driver while the process exits.
  static auto& refusal = *new std::string;
  static orError_t code = orSuccess;
  const std::lock_guard lock(mutex);
  if (started_by.load() == getpid()) return orSuccess;
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
  started_by.store(getpid(), std::memory_order_release);
  return orSuccess;
}

}  // namespace

// LITERALINCLUDE START: FORK
// OpenCL: its threads are lost in a fork, and nothing says so. Instead, the driver
// compares the process with the one that started OpenCL, before it takes any lock.
orDriverState state_of_process() {
  const pid_t pid = started_by.load(std::memory_order_acquire);
  if (pid == 0) return orDriverFresh;
  if (pid != getpid()) return orDriverForked;
  return exiting ? orDriverExiting : orDriverRunning;
}
// LITERALINCLUDE END: FORK

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
                  "the process is exiting, the device is off");
  }
  return orErrorUnknown;
}

}  // namespace oclrt

orError_t orInit(void) {
  return oclrt::call(__func__, oclrt::kStart, [] { return orSuccess; });
}

orDriverState orGetDriverState(void) { return oclrt::state_of_process(); }
