// A kernel that is a C++ closure and runs on a thread of the host; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "csrc/Export.h"
#include "csrc/kernels/cpu/LaunchState.h"

namespace openreg::cpu {

// Memory for the arguments of kernels. A thread of the program allocates it, and
// usually a driver thread frees it. With malloc, the two would contend for a lock,
// which takes longer than a small kernel.
OPENREG_EXPORT void* allocate_arguments(size_t bytes);
OPENREG_EXPORT void free_arguments(void* arguments, size_t bytes) noexcept;

// LITERALINCLUDE START: HOST_KERNEL
// A kernel in such memory, with the settings of the thread that launches it.
struct OPENREG_EXPORT HostKernel {
  LaunchState state;

  virtual ~HostKernel() = default;
  virtual void compute() = 0;

  static void* operator new(size_t bytes) { return allocate_arguments(bytes); }
  static void operator delete(void* kernel, size_t bytes) {
    free_arguments(kernel, bytes);
  }

  // What orLaunchKernel takes: runs the kernel, and destroys it.
  static orError_t run(void* kernel) noexcept;
  static void destroy(void* kernel) { delete static_cast<HostKernel*>(kernel); }
};
// LITERALINCLUDE END: HOST_KERNEL

template <class Closure>
struct HostKernelOf final : HostKernel {
  Closure closure;

  static_assert(alignof(Closure) <= alignof(std::max_align_t));
  explicit HostKernelOf(Closure&& closure) : closure(std::move(closure)) {}
  void compute() override { closure(); }
};

// Enqueues the kernel on the current stream of `device`.
OPENREG_EXPORT void launch_host_kernel(const char* name, c10::Device device,
                                       std::unique_ptr<HostKernel> kernel,
                                       Precision reads);

// Enqueues a closure, which takes no arguments, on the current stream of `device`. What
// it captures by value is there when it runs. `name` is a literal.
template <class Closure>
void launch_on(const char* name, c10::Device device, Closure closure,
               Precision reads = Precision::Ignored) {
  auto* kernel = new HostKernelOf<Closure>(std::move(closure));
  launch_host_kernel(name, device, std::unique_ptr<HostKernel>(kernel), reads);
}

}  // namespace openreg::cpu
