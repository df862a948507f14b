// Lets a scope call CPU operators without other dispatch keys; see
// docs/operators/meta-functions.md.
#include "csrc/aten/common/CpuDispatchGuard.h"

namespace openreg {
namespace {

c10::impl::LocalDispatchKeySet cpu_keys() {
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

CpuDispatchGuard::CpuDispatchGuard() : guard_(cpu_keys()) {}

}  // namespace openreg
