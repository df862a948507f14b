// Errors: names, sentences and details; see docs/opencl/driver.md.
#include "error.h"

#include <cstdarg>
#include <cstdio>

#include "process.h"

namespace oclrt {
namespace {

// Plain bytes, which stay usable until a thread ends. A compiler's log is long.
thread_local char detail[8192] = "";

struct Entry {
  const char* name;
  const char* text;
};

Entry entry_of(orError_t error) {
  switch (error) {
#define OCLRT_ERROR(code, text) \
  case code:                    \
    return {#code, text};
    OCLRT_ERROR(orSuccess, "no error")
    OCLRT_ERROR(orErrorInvalidValue, "an argument is not valid")
    OCLRT_ERROR(orErrorMemoryAllocation, "out of memory")
    OCLRT_ERROR(orErrorInitializationError, "the driver cannot be used in this process")
    OCLRT_ERROR(orErrorInvalidDevicePointer, "not the address of device memory")
    OCLRT_ERROR(orErrorInvalidMemcpyDirection,
                "the kind of the copy does not match the addresses")
    OCLRT_ERROR(orErrorNoDevice, "there is no device")
    OCLRT_ERROR(orErrorInvalidDevice, "there is no device of this number")
    OCLRT_ERROR(orErrorInvalidResourceHandle, "the handle is not live")
    OCLRT_ERROR(orErrorNotReady, "the work has not finished yet")
    OCLRT_ERROR(orErrorIllegalAddress, "a kernel used an illegal address")
    OCLRT_ERROR(orErrorLaunchFailure, "a kernel failed")
    OCLRT_ERROR(orErrorNotPermitted, "the call is not permitted inside a task")
    OCLRT_ERROR(orErrorNotSupported, "the call is not supported")
    OCLRT_ERROR(orErrorStreamCaptureUnsupported,
                "the call is not permitted during a stream capture")
    OCLRT_ERROR(orErrorStreamCaptureInvalidated, "the stream capture was invalidated")
    OCLRT_ERROR(orErrorStreamCaptureUnjoined,
                "a forked stream did not join the capture again")
    OCLRT_ERROR(orErrorUnknown, "unknown error")
#undef OCLRT_ERROR
  }
  return {"orErrorUnrecognized", "not an error code of this driver"};
}

}  // namespace

orError_t fail(orError_t code, const char* format, ...) {
  const int length = std::snprintf(detail, sizeof detail, "%s(): ", thread.function);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(detail + length, sizeof detail - static_cast<size_t>(length), format,
                 arguments);
  va_end(arguments);
  return code;
}

// OpenCL: an error is a number, without a text. The detail names the call and the
// enumerator instead.
orError_t fail_cl(const char* call, cl_int status) {
  switch (status) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return fail(orErrorMemoryAllocation, "%s ran out of memory: %s (%d)", call,
                  name_of(status), status);
    case CL_INVALID_VALUE:
    case CL_INVALID_KERNEL_ARGS:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
      return fail(orErrorInvalidValue, "%s failed: %s (%d)", call, name_of(status),
                  status);
    default:
      return fail(orErrorUnknown, "%s failed: %s (%d)", call, name_of(status), status);
  }
}

const char* name_of(cl_int status) {
  switch (status) {
#define OCLRT_STATUS(code) \
  case code:               \
    return #code;
    OCLRT_STATUS(CL_DEVICE_NOT_FOUND)
    OCLRT_STATUS(CL_DEVICE_NOT_AVAILABLE)
    OCLRT_STATUS(CL_COMPILER_NOT_AVAILABLE)
    OCLRT_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    OCLRT_STATUS(CL_OUT_OF_RESOURCES)
    OCLRT_STATUS(CL_OUT_OF_HOST_MEMORY)
    OCLRT_STATUS(CL_MEM_COPY_OVERLAP)
    OCLRT_STATUS(CL_BUILD_PROGRAM_FAILURE)
    OCLRT_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    OCLRT_STATUS(CL_DEVICE_PARTITION_FAILED)
    OCLRT_STATUS(CL_INVALID_VALUE)
    OCLRT_STATUS(CL_INVALID_DEVICE)
    OCLRT_STATUS(CL_INVALID_CONTEXT)
    OCLRT_STATUS(CL_INVALID_COMMAND_QUEUE)
    OCLRT_STATUS(CL_INVALID_BINARY)
    OCLRT_STATUS(CL_INVALID_BUILD_OPTIONS)
    OCLRT_STATUS(CL_INVALID_PROGRAM)
    OCLRT_STATUS(CL_INVALID_PROGRAM_EXECUTABLE)
    OCLRT_STATUS(CL_INVALID_KERNEL_NAME)
    OCLRT_STATUS(CL_INVALID_KERNEL)
    OCLRT_STATUS(CL_INVALID_ARG_INDEX)
    OCLRT_STATUS(CL_INVALID_ARG_VALUE)
    OCLRT_STATUS(CL_INVALID_ARG_SIZE)
    OCLRT_STATUS(CL_INVALID_KERNEL_ARGS)
    OCLRT_STATUS(CL_INVALID_WORK_DIMENSION)
    OCLRT_STATUS(CL_INVALID_WORK_GROUP_SIZE)
    OCLRT_STATUS(CL_INVALID_WORK_ITEM_SIZE)
    OCLRT_STATUS(CL_INVALID_GLOBAL_OFFSET)
    OCLRT_STATUS(CL_INVALID_EVENT_WAIT_LIST)
    OCLRT_STATUS(CL_INVALID_EVENT)
    OCLRT_STATUS(CL_INVALID_OPERATION)
    OCLRT_STATUS(CL_INVALID_GLOBAL_WORK_SIZE)
    OCLRT_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE)
    OCLRT_STATUS(CL_INVALID_DEVICE_PARTITION_COUNT)
#undef OCLRT_STATUS
    default:
      // -1001, of the loader: no platform is installed.
      return status == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR" : "a code of CL/cl.h";
  }
}

}  // namespace oclrt

const char* orGetErrorName(orError_t error) { return oclrt::entry_of(error).name; }

const char* orGetErrorString(orError_t error) { return oclrt::entry_of(error).text; }

const char* orGetErrorDetail(void) { return oclrt::detail; }
