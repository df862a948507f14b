// Puts a kernel on the current stream; see docs/operators/registration.md.
#pragma once

#include <c10/core/Device.h>
#include <openreg.h>

#include <memory>
#include <utility>

#include "csrc/Export.h"

namespace openreg {
namespace detail {

// Runs `body(args)` in the state in which device code runs: no autograd, no autocast
// and no Python mode of the thread that happens to execute it; an exception becomes a
// fault.
OPENREG_EXPORT orError_t run_kernel(void (*body)(void*), void* args) noexcept;

OPENREG_EXPORT void enqueue(const char* name, c10::Device device, orKernel_t kernel,
                            void* args, orHostFn_t destroy);

}  // namespace detail

// LITERALINCLUDE START: LAUNCH
// Enqueues `kernel` on the calling thread's current stream of `device` and returns. The
// kernel owns what it needs: scalars by value, tensors as KernelTensor. `name` is a
// literal; errors and traces show it.
template <class Kernel>
void launch(const char* name, c10::Device device, Kernel kernel) {
  auto owned = std::make_unique<Kernel>(std::move(kernel));
  detail::enqueue(
      name, device,
      [](void* args) {
        return detail::run_kernel([](void* k) { (*static_cast<Kernel*>(k))(); }, args);
      },
      owned.get(), [](void* args) { delete static_cast<Kernel*>(args); });
  owned.release();  // the driver deletes it, after the kernel ran
}
// LITERALINCLUDE END: LAUNCH

}  // namespace openreg
