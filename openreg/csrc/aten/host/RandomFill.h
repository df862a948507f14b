// Reserves random numbers of a generator for a kernel that fills a tensor; see
// docs/runtime/random-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <type_traits>

#include "csrc/aten/meta/RandomChecks.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/random/Philox.h"

namespace openreg {

// LITERALINCLUDE START: FILL_RANDOM
// Calls `launch`, of a kernel that fills `self` and makes each element of `words`
// random words.
template <class... Args>
void fill_random(const at::Tensor& self, const std::optional<at::Generator>& generator,
                 int64_t words,
                 void (*launch)(const at::Tensor&, PhiloxKernelState, Args...),
                 std::type_identity_t<Args>... args) {
  TORCH_CHECK(self.is_privateuseone(),
              "openreg: expected a tensor on the openreg device, but got one on ",
              self.device(), "; move it with .to('openreg')");
  const PhiloxKernelState random = reserve(generator, self.device().index(),
                                           blocks_for(self.numel(), words));  // (1)
  launch(self, random, args...);                                              // (2)
}
// LITERALINCLUDE END: FILL_RANDOM

}  // namespace openreg
