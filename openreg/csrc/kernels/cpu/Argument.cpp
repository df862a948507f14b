// Converts arguments of a launch for device code; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/Argument.h"

#include <openreg.h>

namespace openreg::cpu {

at::Tensor Aliases::of(const TensorArg& arg) {
  if (!arg.is_shared() && shared_.empty()) {
    return arg.alias();
  }
  for (const auto& [identity, tensor] : shared_) {
    if (identity == arg.identity()) {
      return tensor;
    }
  }
  at::Tensor tensor = arg.alias();
  if (arg.is_shared()) {
    shared_.emplace_back(arg.identity(), tensor);
  }
  return tensor;
}

PhiloxState Argument<PhiloxState>::alias(const Captured& value, Aliases&) {
  // LITERALINCLUDE START: PHILOX_IN_KERNEL
  if (value.of_graph() == nullptr) {
    return value.state();
  }
  const auto* graph =
      static_cast<const PhiloxState*>(orKernelAddress(value.of_graph()));  // (1)
  return {graph->seed, graph->offset + value.state().offset};              // (2)
  // LITERALINCLUDE END: PHILOX_IN_KERNEL
}

}  // namespace openreg::cpu
