// Puts a kernel on the current stream; see docs/operators/launch.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "csrc/Export.h"
#include "csrc/simulator/HostKernel.h"

namespace openreg {

// Enqueues `kernel(args)` and `destroy(args)` on the current stream of `device`. `name`
// is a literal; errors and traces show it.
OPENREG_EXPORT void enqueue(const char* name, c10::Device device, orKernel_t kernel,
                            void* args, orHostFn_t destroy);

// LITERALINCLUDE START: LAUNCH
// Enqueues `kernel` on the calling thread's current stream of `device` and returns. The
// kernel owns what it needs: scalars by value, tensors as KernelTensorArg. `name` is a
// literal; errors and traces show it. `reads`: which settings of the process it needs.
template <class Kernel>
void launch(const char* name, c10::Device device, Kernel&& kernel,
            Reads reads = Reads::Nothing) {
  using HostKernel = simulator::HostKernel<std::decay_t<Kernel>>;
  std::unique_ptr<HostKernel> args(
      new HostKernel{std::forward<Kernel>(kernel), LaunchState::of_caller(reads)});
  enqueue(name, device, &HostKernel::run, args.get(), &HostKernel::destroy);
  args.release();  // the driver deletes it, after the kernel ran
}
// LITERALINCLUDE END: LAUNCH

}  // namespace openreg
