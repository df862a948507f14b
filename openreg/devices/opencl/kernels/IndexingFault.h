// An index out of range, found by a kernel and reported by the next wait of the host;
// see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace ocl::opencl {

// What each kernel that checks indices starts with. Only the first fault is kept.
// `name` is the address of a literal of the host, which the device carries back.
inline constexpr const char* kFault = R"(
static void report(global long* fault, long index, long size, ulong name) {
  if (atomic_cmpxchg((volatile global int*)fault, 0, 1) == 0) {
    fault[1] = index;
    fault[2] = size;
    fault[3] = (long)name;
  }
}
)";

// Four numbers of 64 bits in the memory of the device of `tensor`. A kernel must not
// touch an element that does not exist: it reports the index here, and continues.
void* fault_record(const at::Tensor& tensor);

// After each launch of such a kernel, on the same stream: the next wait of the host
// throws IndexError if there was a fault.
void watch_faults(const at::Tensor& tensor);

}  // namespace ocl::opencl
