// Puts a kernel on the stream, without csrc/simulator; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <openreg.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "csrc/Export.h"

namespace openreg {

// An argument of the kernels of products; the process has no such setting here.
enum class Reads : uint8_t { Nothing, Precision };

// For a scope, operators find the kernels of the CPU.
class KernelDispatchGuard {
  c10::impl::ForceDispatchKeyGuard guard_{
      c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::autograd_dispatch_keyset_with_ADInplaceOrView};
};

OPENREG_EXPORT void enqueue(const char* name, c10::Device device, orKernel_t kernel,
                            void* args, orHostFn_t destroy);

template <class Kernel, class... Args>
void launch_new(const char* name, c10::Device device, Reads, Args&&... args) {
  auto kernel = std::make_unique<Kernel>(std::forward<Args>(args)...);
  const orKernel_t run = [](void* kernel) {
    (*static_cast<Kernel*>(kernel))();
    return orSuccess;
  };
  enqueue(name, device, run, kernel.get(),
          [](void* kernel) { delete static_cast<Kernel*>(kernel); });
  kernel.release();
}

template <class Kernel>
void launch(const char* name, c10::Device device, Kernel&& kernel, Reads reads = {}) {
  launch_new<std::decay_t<Kernel>>(name, device, reads, std::forward<Kernel>(kernel));
}

}  // namespace openreg
