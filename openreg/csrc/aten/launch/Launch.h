// Puts a kernel on the current stream; see docs/operators/launch.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "csrc/Export.h"
#include "csrc/kernels/cpu/HostKernel.h"

namespace openreg {

using cpu::Reads;

// Enqueues `kernel(args)` and `destroy(args)` on the current stream of `device`. `name`
// is a literal; errors and traces show it.
OPENREG_EXPORT void enqueue(const char* name, c10::Device device, orKernel_t kernel,
                            void* args, orHostFn_t destroy);

// LITERALINCLUDE START: LAUNCH
// Makes a `Kernel` of `args`, enqueues it on the calling thread's current stream of
// `device`, and returns. `name` is a literal; errors and traces show it. `reads`: which
// settings of the process the kernel needs.
template <class Kernel, class... Args>
void launch_new(const char* name, c10::Device device, Reads reads, Args&&... args) {
  std::unique_ptr<cpu::HostKernel> kernel(
      new cpu::HostKernelOf<Kernel>(std::forward<Args>(args)...));
  cpu::launch_host_kernel(name, device, std::move(kernel), reads);
}

// The same for a lambda. It owns what it needs: scalars by value, tensors as
// KernelTensorArg.
template <class Kernel>
void launch(const char* name, c10::Device device, Kernel&& kernel,
            Reads reads = Reads::Nothing) {
  launch_new<std::decay_t<Kernel>>(name, device, reads, std::forward<Kernel>(kernel));
}
// LITERALINCLUDE END: LAUNCH

}  // namespace openreg
