// Lets a scope call operators of the CPU as if nothing else were there; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "csrc/Export.h"

namespace openreg {

// For a scope, the dispatcher's thread-local state of a fresh thread without autograd:
// an operator finds plain CPU code, whatever modes the thread is in.
class OPENREG_EXPORT CpuDispatchGuard {
 public:
  CpuDispatchGuard();

 private:
  c10::impl::ForceDispatchKeyGuard guard_;
};

}  // namespace openreg
