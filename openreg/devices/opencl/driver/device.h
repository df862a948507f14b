// The OpenCL devices of the driver, and their faults; see docs/opencl/driver.md.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"

namespace oclrt {

struct Device {
  cl_device_id id = nullptr;
  std::string name;
  std::string version;  // of the platform and of its driver: a key of compiled programs
  size_t memory = 0;    // bytes that the driver hands out
  size_t largest = 0;   // bytes of one allocation
  int units = 0;
  std::shared_ptr<orStream> default_stream;
  std::atomic<int> streams_made = 0;

  std::atomic<int> fault_code = orSuccess;
  std::mutex fault_mutex;
  std::string fault_detail;
};

// Never destroyed: tensors are freed after main().
struct Platform {
  cl_context context = nullptr;
  cl_svm_mem_flags svm_flags = 0;
  std::vector<std::unique_ptr<Device>> devices;
};

// Starts OpenCL: chooses the platform and splits its device. Called once.
orError_t start_platform();

// These are for calls that have started the driver.
const Platform& platform();
Device& device_at(int index);
// Whether there is a device of this number; starts nothing.
orError_t check_device(int index);

// The sticky error of a device, with its message, or orSuccess.
orError_t fault_of(int device);
// The first fault of a device stays.
void set_fault(int device, orError_t code, const std::string& detail);

}  // namespace oclrt
