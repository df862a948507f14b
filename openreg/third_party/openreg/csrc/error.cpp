// Errors: names, sentences and details. See docs/start/architecture.md.
#include "error.h"

#include <cstdarg>
#include <cstdio>

#include "call.h"

namespace openreg::driver {
namespace {

// Plain bytes, which stay usable until a thread ends, unlike a string.
thread_local char detail[1024] = "";

struct Entry {
  const char* name;
  const char* text;
};

Entry entryOf(orError_t error) {
  switch (error) {
#define OPENREG_ERROR(code, text) \
  case code:                      \
    return {#code, text};
    OPENREG_ERROR(orSuccess, "no error")
    OPENREG_ERROR(orErrorInvalidValue, "an argument is not valid")
    OPENREG_ERROR(orErrorMemoryAllocation, "out of memory")
    OPENREG_ERROR(orErrorInitializationError,
                  "the driver cannot be used in this process")
    OPENREG_ERROR(orErrorInvalidDevicePointer, "not the address of device memory")
    OPENREG_ERROR(orErrorInvalidMemcpyDirection,
                  "the kind of the copy does not match the addresses")
    OPENREG_ERROR(orErrorNoDevice, "there is no device")
    OPENREG_ERROR(orErrorInvalidDevice, "there is no device of this number")
    OPENREG_ERROR(orErrorInvalidResourceHandle, "the handle is not live")
    OPENREG_ERROR(orErrorNotReady, "the work has not finished yet")
    OPENREG_ERROR(orErrorIllegalAddress, "a kernel used an illegal address")
    OPENREG_ERROR(orErrorLaunchFailure, "a kernel failed")
    OPENREG_ERROR(orErrorNotPermitted, "the call is not permitted inside a task")
    OPENREG_ERROR(orErrorNotSupported, "the call is not supported")
    OPENREG_ERROR(orErrorStreamCaptureUnsupported,
                  "the call is not permitted during a stream capture")
    OPENREG_ERROR(orErrorStreamCaptureInvalidated, "the stream capture was invalidated")
    OPENREG_ERROR(orErrorStreamCaptureUnjoined,
                  "a forked stream did not join the capture again")
    OPENREG_ERROR(orErrorUnknown, "unknown error")
#undef OPENREG_ERROR
  }
  return {"orErrorUnrecognized", "not an error code of this driver"};
}

}  // namespace

orError_t fail(orError_t code, const char* format, ...) {
  int length = std::snprintf(detail, sizeof detail, "%s(): ", thread.function);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(detail + length, sizeof detail - length, format, arguments);
  va_end(arguments);
  return code;
}

}  // namespace openreg::driver

const char* orGetErrorName(orError_t error) {
  return openreg::driver::entryOf(error).name;
}

const char* orGetErrorString(orError_t error) {
  return openreg::driver::entryOf(error).text;
}

const char* orGetErrorDetail(void) { return openreg::driver::detail; }
