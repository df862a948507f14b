// Lets a scope call CPU operators without other dispatch keys; see
// docs/operators/meta-functions.md.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "csrc/Export.h"

namespace openreg {

// Gives a scope the dispatcher state of a new thread without autograd, so that an
// operator runs plain CPU code in any mode of the calling thread.
class OPENREG_EXPORT CpuDispatchGuard {
 public:
  CpuDispatchGuard();

 private:
  c10::impl::ForceDispatchKeyGuard guard_;
};

}  // namespace openreg
