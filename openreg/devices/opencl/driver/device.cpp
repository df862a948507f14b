// Devices: the current one, properties, waiting, faults; see docs/opencl/driver.md.
#include "device.h"

#include <algorithm>
#include <cstdio>

#include "config.h"
#include "error.h"
#include "process.h"
#include "stream.h"

namespace oclrt {

orError_t check_device(int index) {
  if (orError_t error = load_config()) return error;
  const int count = config().device_count;
  if (index >= 0 && index < count) return orSuccess;
  return fail(orErrorInvalidDevice, "there is no device %d: the devices are 0 to %d",
              index, count - 1);
}

orError_t fault_of(int index) {
  Device& device = device_at(index);
  const int code = device.fault_code.load(std::memory_order_acquire);
  if (code == orSuccess) return orSuccess;
  const std::lock_guard lock(device.fault_mutex);
  return fail(static_cast<orError_t>(code),
              "device %d has a fault: %s. It takes no work until orDeviceReset()",
              index, device.fault_detail.c_str());
}

void set_fault(int index, orError_t code, const std::string& detail) {
  Device& device = device_at(index);
  const std::lock_guard lock(device.fault_mutex);
  if (device.fault_code != orSuccess) return;
  device.fault_detail = detail;
  device.fault_code.store(code, std::memory_order_release);
}

}  // namespace oclrt

using namespace oclrt;

orError_t orGetDeviceCount(int* count) {
  return call(__func__, kInTask, [&] {
    if (count == nullptr) return fail(orErrorInvalidValue, "count is null");
    if (orError_t error = load_config()) return error;
    *count = config().device_count;
    return orSuccess;
  });
}

// OpenCL: no current device. Instead, a number for each thread.
orError_t orGetDevice(int* device) {
  return call(__func__, kInTask, [&] {
    if (device == nullptr) return fail(orErrorInvalidValue, "device is null");
    *device = thread.device;
    return orSuccess;
  });
}

orError_t orSetDevice(int device) {
  return call(__func__, 0, [&] {
    if (orError_t error = check_device(device)) return error;
    thread.device = device;
    return orSuccess;
  });
}

// OpenCL: queries work only after it has started. Instead, a name without a model and
// an equal share of the host until then.
orError_t orGetDeviceProperties(orDeviceProp* prop, int device) {
  return call(__func__, 0, [&] {
    if (prop == nullptr) return fail(orErrorInvalidValue, "prop is null");
    if (orError_t error = check_device(device)) return error;
    *prop = {};
    const bool running = state_of_process() == orDriverRunning;
    std::snprintf(prop->name, sizeof prop->name, "%s",
                  running ? device_at(device).name.c_str() : "OpenCL device");
    prop->totalGlobalMem = running                       ? device_at(device).memory
                           : config().device_memory != 0 ? config().device_memory
                                                         : config().host_share;
    prop->major = 3;
    prop->multiProcessorCount = running ? device_at(device).units : 1;
    prop->concurrentKernels = 1;
    return orSuccess;
  });
}

orError_t orDeviceSynchronize(void) {
  return call(__func__, 0, [] {
    if (state_of_process() == orDriverFresh) return orSuccess;
    wait_for_device(thread.device);
    return fault_of(thread.device);
  });
}

orError_t orDeviceReset(void) {
  return call(__func__, 0, [] {
    if (state_of_process() == orDriverFresh) return orSuccess;
    wait_for_device(thread.device);
    Device& device = device_at(thread.device);
    const std::lock_guard lock(device.fault_mutex);
    device.fault_code = orSuccess;
    device.fault_detail.clear();
    return orSuccess;
  });
}
