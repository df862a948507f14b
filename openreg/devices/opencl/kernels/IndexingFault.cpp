// Reports indices that kernels found out of range; see docs/opencl/kernels.md.
#include "csrc/kernels/IndexingFault.h"

#include <c10/util/Exception.h>
#include <oclrt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "csrc/runtime/device/AfterSynchronize.h"
#include "csrc/runtime/device/OclFunctions.h"
#include "csrc/runtime/device/OclGuard.h"
#include "csrc/runtime/errors/OclException.h"
#include "csrc/runtime/stream/OclStream.h"

namespace ocl::opencl {
namespace {

using Fault =
    std::array<int64_t, 4>;  // found, index, size, name: as kFault writes them

struct Record {
  void* on_device = nullptr;
  volatile int64_t* on_host = nullptr;  // pinned; written by copies of the device
};

// Never destroyed: threads may launch while the process exits.
struct Records {
  std::mutex mutex;
  std::vector<Record> by_device;
};

Records& records() {
  static auto* const only = new Records;
  return *only;
}

// Null for nothing: what was to be done after a wait before this file was loaded.
void (*next_after_synchronize)() = nullptr;

// The device has written all that it copies before the wait returned.
void throw_faults() {
  if (next_after_synchronize != nullptr) {
    next_after_synchronize();
  }
  Records& all = records();
  const std::lock_guard lock(all.mutex);
  for (size_t device = 0; device < all.by_device.size(); ++device) {
    const Record& record = all.by_device[device];
    if (record.on_host == nullptr || record.on_host[0] == 0) {
      continue;
    }
    Fault fault{};
    std::copy_n(record.on_host, fault.size(), fault.begin());
    std::fill_n(record.on_host, fault.size(), 0);
    const OclGuard scope(static_cast<DeviceIndex>(device));
    OCL_CHECK(orMemset(record.on_device, 0, sizeof(fault)));
    TORCH_CHECK_INDEX(false, "ocl: ", reinterpret_cast<const char*>(fault[3]),
                      " on device ", device, ": index ", fault[1],
                      " is out of bounds for a dimension of size ", fault[2],
                      "; its element was neither read nor written. Check the indices, ",
                      "on the CPU if you do not know which call had them");
  }
}

Record& record_of_current_device() {
  Records& all = records();
  const auto device = static_cast<size_t>(current_device());
  if (all.by_device.size() <= device) {
    all.by_device.resize(device + 1);
  }
  Record& record = all.by_device[device];
  if (record.on_device == nullptr) {
    void* host = nullptr;
    OCL_CHECK(orMallocHost(&host, sizeof(Fault)));
    std::fill_n(static_cast<int64_t*>(host), Fault().size(), 0);
    void* memory = nullptr;
    OCL_CHECK(orMalloc(&memory, sizeof(Fault)));
    OCL_CHECK(orMemset(memory, 0, sizeof(Fault)));
    record = {memory, static_cast<int64_t*>(host)};
  }
  return record;
}

[[maybe_unused]] const bool hook_set =
    (next_after_synchronize = std::exchange(after_synchronize, throw_faults), true);

}  // namespace

void* fault_record(const at::Tensor& tensor) {
  const OclGuard guard(tensor.device().index());
  const std::lock_guard lock(records().mutex);
  return record_of_current_device().on_device;
}

void watch_faults(const at::Tensor& tensor) {
  const OclGuard guard(tensor.device().index());
  const std::lock_guard lock(records().mutex);
  const Record& record = record_of_current_device();
  OCL_CHECK(orMemcpyAsync(const_cast<int64_t*>(record.on_host), record.on_device,
                          sizeof(Fault), orMemcpyDeviceToHost,
                          native_handle(current_stream(current_device()))));
}

}  // namespace ocl::opencl
