// Puts a kernel on the current stream; see docs/operators/registration.md.
#include "csrc/aten/native/Launch.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "csrc/runtime/OpenRegStream.h"
#include "csrc/runtime/OpenRegWarnings.h"

namespace openreg::detail {
namespace {

// The dispatcher's thread-local state for device code. A kernel calls ATen's CPU
// kernels, and some of these call operators again: they must find plain CPU code.
c10::impl::LocalDispatchKeySet device_side_keys() {
  static const c10::impl::PODLocalDispatchKeySet keys = [] {
    c10::impl::PODLocalDispatchKeySet pod{};
    pod.set_included(c10::default_included_set);
    pod.set_excluded(c10::default_excluded_set |
                     c10::autograd_dispatch_keyset_with_ADInplaceOrView);
    return pod;
  }();
  return keys;
}

}  // namespace

orError_t run_kernel(void (*body)(void*), void* args) noexcept {
  const c10::impl::ForceDispatchKeyGuard guard(device_side_keys());
  const c10::WarningUtils::WarningHandlerGuard warnings(&KernelWarnings::get());
  try {
    body(args);
    return orSuccess;
  } catch (const c10::Error& error) {
    orKernelFault(error.what_without_backtrace());
  } catch (const std::exception& error) {
    orKernelFault(error.what());
  } catch (...) {
    orKernelFault("unknown C++ exception");
  }
  return orErrorLaunchFailure;
}

void enqueue(const char* name, c10::Device device, orKernel_t kernel, void* args,
             orHostFn_t destroy) {
  const DeviceScope scope(device.index());
  const orStream_t stream = handle(current_stream(device.index()));
  const orError_t error = orLaunchKernel(name, kernel, args, destroy, stream);
  if (C10_UNLIKELY(error != orSuccess)) {
    throwError(error, {__func__, __FILE__, uint32_t{__LINE__}},
               c10::str("cannot launch '", name, "' on ", device));
  }
}

}  // namespace openreg::detail
