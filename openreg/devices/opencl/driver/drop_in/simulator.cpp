// Functions that only a replacement of libopenreg.so needs: kernels that are host
// functions, and the test interface of the simulator; see docs/opencl/driver.md.
#include "../host_task.h"
#include "../memory.h"
#include "../process.h"

using namespace oclrt;

orError_t orLaunchKernel(const char* name, orKernel_t kernel, void* args,
                         orHostFn_t destroy, orStream_t handle) {
  return call(__func__, kStart, [&] {
    if (name == nullptr || kernel == nullptr) {
      return fail(orErrorInvalidValue, "name or kernel is null");
    }
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    HostTask task;
    task.name = name;
    task.kernel = kernel;
    task.args = args;
    task.destroy = destroy;
    return launch_host_task(*stream, std::move(task));
  });
}

// Shared virtual memory: the host reaches it by the same address, on a CPU at least.
void* orKernelAddress(const void* ptr) {
  Allocation found;
  const bool known = in_host_kernel() && find_allocation(ptr, &found) &&
                     found.type == orMemoryTypeDevice;
  return known ? const_cast<void*>(ptr) : nullptr;
}

void orKernelFault(const char* message) { set_fault_words(message); }

orError_t orSimHold(orStream_t stream) { return orClHold(stream); }

orError_t orSimRelease(orStream_t stream) { return orClRelease(stream); }

orError_t orSimReset(void) {
  return call(__func__, 0, [] {
    if (state_of_process() == orDriverRunning) {
      drain_streams(std::chrono::milliseconds(0));
    }
    return orSuccess;
  });
}

// OpenCL: commands are neither delayed nor made to fail.
static orError_t refuse_unless_off(const char* function, bool off) {
  return call(function, 0, [&] {
    if (off) return orSuccess;
    return fail(
        orErrorNotSupported,
        "OpenCL cannot simulate this: it supports only orSimHold() and orSimRelease()");
  });
}

orError_t orSimSetDelay(unsigned int microseconds, unsigned int) {
  return refuse_unless_off(__func__, microseconds == 0);
}

orError_t orSimGetDelay(unsigned int* microseconds, unsigned int* seed) {
  return call(__func__, 0, [&] {
    if (microseconds == nullptr || seed == nullptr) {
      return fail(orErrorInvalidValue, "microseconds or seed is null");
    }
    *microseconds = *seed = 0;
    return orSuccess;
  });
}

orError_t orSimFailKernel(const char*, int) {
  return refuse_unless_off(__func__, false);
}

orError_t orSimFailAllocation(int count) {
  return refuse_unless_off(__func__, count == 0);
}
