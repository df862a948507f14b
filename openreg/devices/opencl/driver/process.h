// The process: start, fork, exit, and the entry of every API function;
// see docs/opencl/driver.md.
#pragma once

#include <exception>
#include <new>

#include "api.h"
#include "error.h"

namespace oclrt {

struct ThreadState {
  const char* function = "";  // the API function that the thread is in
  int device = 0;             // the thread's current device
  bool in_task = false;       // it runs a kernel or a callback of the host
};
extern thread_local ThreadState thread;

enum : unsigned {
  kStart = 1,   // OpenCL has to run
  kInTask = 2,  // allowed inside a task
};

orDriverState state_of_process();
// Starts the driver if requested; fails in a forked child and in an exiting process.
orError_t enter_process(bool start);

// Every API function that returns an orError_t runs its body through this: no exception
// leaves the driver.
template <class Body>
orError_t call(const char* function, unsigned flags, Body body) noexcept {
  thread.function = function;
  try {
    if (thread.in_task && (flags & kInTask) == 0) {
      return fail(orErrorNotPermitted,
                  "a kernel, a callback or a destroy function must not call it");
    }
    if (orError_t error = enter_process((flags & kStart) != 0)) return error;
    return body();
  } catch (const std::bad_alloc&) {
    return fail(orErrorMemoryAllocation,
                "the driver cannot allocate host memory for its internal data");
  } catch (const std::exception& error) {
    return fail(orErrorUnknown, "%s", error.what());
  }
}

}  // namespace oclrt
