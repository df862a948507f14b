// Puts a kernel on the stream, without csrc/simulator; see docs/operators/launch.md.
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

template <class Kernel>
void launch(const char* name, c10::Device device, Kernel&& kernel, Reads = {}) {
  using Arguments = std::decay_t<Kernel>;
  auto args = std::make_unique<Arguments>(std::forward<Kernel>(kernel));
  const orKernel_t run = [](void* kernel) {
    (*static_cast<Arguments*>(kernel))();
    return orSuccess;
  };
  enqueue(name, device, run, args.get(),
          [](void* kernel) { delete static_cast<Arguments*>(kernel); });
  args.release();
}

}  // namespace openreg
