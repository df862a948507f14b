// Device memory and pinned memory, and what an address is; see docs/opencl/driver.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api.h"

namespace oclrt {

struct Allocation {
  size_t size = 0;
  orMemoryType type = orMemoryTypeUnregistered;
  int device = -1;
  void* raw = nullptr;    // what OpenCL or the host gave
  uintptr_t base = 0;     // the aligned address inside it
  bool is_going = false;  // a call that frees it waits for the device
};

// The allocation around an address; false for memory that the driver did not allocate.
bool find_allocation(const void* address, Allocation* found);

}  // namespace oclrt
