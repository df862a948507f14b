// The settings of the environment and of the machine before OpenCL has started; see
// docs/opencl/driver.md.
#pragma once

#include <cstddef>
#include <string>

#include "api.h"

namespace oclrt {

constexpr int kMaxDevices = 64;

struct Config {
  int device_count = 0;
  size_t device_memory = 0;  // bytes of one device; 0: as the device says
  size_t host_share = 0;     // an equal part of half of the host's memory
  bool sub_devices = true;
  bool launch_blocking = false;
  std::string platform;         // a part of the platform's name; "": the first
  std::string cache_directory;  // "": compiled programs are not kept
};

// Read once; starts nothing. An error names the invalid variable.
orError_t load_config();
const Config& config();

}  // namespace oclrt
