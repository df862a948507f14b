// Kernels in OpenCL C: look-up and launch; see docs/opencl/driver.md.
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "config.h"
#include "process.h"
#include "program.h"
#include "stream.h"

struct orClKernel {
  std::string source, name, options;
  std::mutex mutex;  // of the objects, and of the arguments, which they keep
  std::array<cl_kernel, oclrt::kMaxDevices> on_device{};
};

namespace oclrt {
namespace {

// Never destroyed: kernels are launched until the process exits.
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<orClKernel>> kernels;
};
Registry& registry = *new Registry;

// The kernel's object of a device. The caller holds the mutex.
orError_t object_of(orClKernel& kernel, int device, cl_kernel* object) {
  cl_kernel& known = kernel.on_device[static_cast<size_t>(device)];
  if (known == nullptr) {
    cl_program program = nullptr;
    if (orError_t error =
            find_program(kernel.source, kernel.options, device, &program)) {
      return error;
    }
    cl_int status = CL_SUCCESS;
    const cl_kernel made = clCreateKernel(program, kernel.name.c_str(), &status);
    if (status == CL_INVALID_KERNEL_NAME) {
      return fail(orErrorInvalidValue, "the source has no kernel '%s'",
                  kernel.name.c_str());
    }
    if (status != CL_SUCCESS) return fail_cl("clCreateKernel", status);
    known = made;
  }
  *object = known;
  return orSuccess;
}

orError_t set_argument(cl_kernel object, const orClKernel& kernel, int index,
                       const orClArg& arg) {
  const auto at = static_cast<cl_uint>(index);
  const cl_int status =
      arg.isPointer != 0
          ? clSetKernelArgSVMPointer(object, at, *static_cast<void* const*>(arg.value))
          : clSetKernelArg(object, at, arg.size, arg.value);
  if (status == CL_SUCCESS) return orSuccess;
  return fail(orErrorInvalidValue,
              "kernel '%s' rejected argument %d of %zu bytes: %s (%d)",
              kernel.name.c_str(), index, arg.size, name_of(status), status);
}

orError_t check_launch(orClKernel_t kernel, const orClArg* args, int count, int dims,
                       const size_t* global) {
  if (kernel == nullptr) return fail(orErrorInvalidValue, "kernel is null");
  if (count < 0 || (count > 0 && args == nullptr)) {
    return fail(orErrorInvalidValue, "args is null, or count is %d", count);
  }
  for (int i = 0; i < count; ++i) {
    if (args[i].isPointer == 0 || args[i].value != nullptr) continue;
    return fail(orErrorInvalidValue, "the value of argument %d is null", i);
  }
  if (dims >= 1 && dims <= 3 && global != nullptr) return orSuccess;
  return fail(orErrorInvalidValue, "dims is %d, or global is null: use 1 to 3", dims);
}

}  // namespace
}  // namespace oclrt

using namespace oclrt;

orError_t orClGetKernel(orClKernel_t* kernel, const char* source, const char* name,
                        const char* options) {
  return call(__func__, kStart, [&] {
    if (kernel == nullptr || source == nullptr || name == nullptr) {
      return fail(orErrorInvalidValue, "kernel, source or name is null");
    }
    if (options == nullptr) options = "";
    const std::string key = std::string(name) + '\0' + options + '\0' + source;
    orClKernel* found = nullptr;
    {
      const std::lock_guard lock(registry.mutex);
      std::unique_ptr<orClKernel>& entry = registry.kernels[key];
      if (entry == nullptr) {
        entry = std::make_unique<orClKernel>();
        std::tie(entry->source, entry->name, entry->options) =
            std::tuple(source, name, options);
      }
      found = entry.get();
    }
    const std::lock_guard lock(found->mutex);
    cl_kernel object = nullptr;
    if (orError_t error = object_of(*found, thread.device, &object)) return error;
    *kernel = found;
    return orSuccess;
  });
}

orError_t orClLaunch(orClKernel_t kernel, const orClArg* args, int count, int dims,
                     const size_t* global, const size_t* local, orStream_t handle) {
  return call(__func__, kStart, [&] {
    if (orError_t error = check_launch(kernel, args, count, dims, global)) return error;
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    for (int i = 0; i < dims; ++i) {
      if (global[i] == 0) return fault_of(stream->device);
    }
    // OpenCL: a kernel object has one set of arguments, which clEnqueueNDRangeKernel
    // copies. Instead of an object for each thread, a lock around both.
    std::unique_lock lock(kernel->mutex);
    cl_kernel object = nullptr;
    if (orError_t error = object_of(*kernel, stream->device, &object)) return error;
    for (int i = 0; i < count; ++i) {
      if (orError_t error = set_argument(object, *kernel, i, args[i])) return error;
    }
    const auto add = [&](cl_command_queue queue, cl_event* event) {
      const cl_int status =
          clEnqueueNDRangeKernel(queue, object, static_cast<cl_uint>(dims), nullptr,
                                 global, local, 0, nullptr, event);
      lock.unlock();  // enqueue() may wait, and other streams need the kernel meanwhile
      return status;
    };
    return enqueue(*stream, kernel->name.c_str(), add);
  });
}
