// Puts a kernel on the current stream; see docs/operators/registration.md.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <openreg.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "csrc/Export.h"
#include "csrc/aten/native/LaunchState.h"

namespace openreg {

// For a scope, the dispatcher's thread-local state for device code. A kernel calls
// ATen's CPU kernels, and some of these call operators again: they must find plain CPU
// code, whatever modes the thread is in.
class OPENREG_EXPORT DeviceSide {
 public:
  DeviceSide();

 private:
  c10::impl::ForceDispatchKeyGuard guard_;
};

namespace detail {

// Runs `body(args)` in the state in which device code runs: with the settings of the
// launch, and no autograd, no autocast and no Python mode of the thread that happens to
// execute it; an exception becomes a fault.
OPENREG_EXPORT orError_t run_kernel(void (*body)(void*), void* args,
                                    const LaunchState& state) noexcept;

OPENREG_EXPORT void enqueue(const char* name, c10::Device device, orKernel_t kernel,
                            void* args, orHostFn_t destroy);

// Memory for the arguments of kernels. A thread of the program takes it and mostly a
// thread of the driver gives it back, again and again. With malloc, each would wait for
// the other's lock, which takes longer than a small kernel.
OPENREG_EXPORT void* take_args(size_t bytes);
OPENREG_EXPORT void give_args(void* args, size_t bytes) noexcept;

// A kernel in such memory, with the settings of the thread that launches it.
template <class Kernel>
struct Args : Kernel {
  LaunchState state;

  static_assert(alignof(Kernel) <= alignof(std::max_align_t));
  static void* operator new(size_t bytes) { return take_args(bytes); }
  static void operator delete(void* args, size_t bytes) { give_args(args, bytes); }
};

}  // namespace detail

// LITERALINCLUDE START: LAUNCH
// Enqueues `kernel` on the calling thread's current stream of `device` and returns. The
// kernel owns what it needs: scalars by value, tensors as KernelTensor. `name` is a
// literal; errors and traces show it. `reads`: which settings of the process it needs.
template <class Kernel>
void launch(const char* name, c10::Device device, Kernel&& kernel,
            Reads reads = Reads::Nothing) {
  using Args = detail::Args<std::decay_t<Kernel>>;
  std::unique_ptr<Args> args(
      new Args{std::forward<Kernel>(kernel), LaunchState::of_caller(reads)});
  detail::enqueue(
      name, device,
      [](void* a) {
        return detail::run_kernel([](void* k) { (*static_cast<Args*>(k))(); }, a,
                                  static_cast<Args*>(a)->state);
      },
      args.get(), [](void* a) { delete static_cast<Args*>(a); });
  args.release();  // the driver deletes it, after the kernel ran
}
// LITERALINCLUDE END: LAUNCH

}  // namespace openreg
