// Records of operations and the check for NaN, for programs that hang or fail; see
// docs/modules/distributed-debugging.md.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>

#include "csrc/distributed/ProcessGroupOCCL.h"

namespace openreg {

// LITERALINCLUDE START: OCCL_RECORDED
int64_t ProcessGroupOCCL::record(const Operation& operation, WorkEvents::Ptr events) {
  FlightRecorder& recorder = FlightRecorder::get();
  if (!recorder.is_on()) {
    return -1;
  }
  const bool message = c10d::isP2POp(operation.type);
  // A rank that only receives has no inputs. torch's analysis compares those of all.
  const Tensors& inputs =
      operation.inputs.empty() ? operation.outputs : operation.inputs;
  return recorder.record({.group = getGroupUid(),
                          .description = getGroupDesc(),
                          .ranks = host_->getBackendOptions()->global_ranks_in_group,
                          .name = operation.name,
                          .rank = getRank(),
                          .peer = operation.peer,
                          .is_message = message,
                          .collectives = collectives_ + (message ? 0 : 1),  // (1)
                          .messages = messages_ + (message ? 1 : 0),
                          .inputs = FlightRecorder::Tensors::of(inputs),
                          .outputs = FlightRecorder::Tensors::of(operation.outputs),
                          .timeout = timeout_of(operation),
                          .traceback = operation.traceback,
                          .events = std::move(events)});
}
// LITERALINCLUDE END: OCCL_RECORDED

void ProcessGroupOCCL::observe(Operation& operation) const {
  if (checks_nan_) {
    check_nan(operation);
  }
  operation.traceback = FlightRecorder::get().traceback();
}

// LITERALINCLUDE START: OCCL_NAN_CHECK
void ProcessGroupOCCL::check_nan(const Operation& operation) const {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : operation.inputs) {
    const at::ScalarType dtype = tensor.scalar_type();
    const bool may_be_nan = (at::isFloatingType(dtype) && !at::isFloat8Type(dtype)) ||
                            at::isComplexType(dtype);
    TORCH_CHECK_WITH(DistBackendError,
                     !may_be_nan || !at::isnan(tensor).any().item<bool>(),
                     operation.name, " on ", where(), " would send a NaN, in a tensor ",
                     "of sizes ", tensor.sizes(), "; find the operator that made it, ",
                     "with torch.autograd.set_detect_anomaly(True) in a backward pass");
  }
}
// LITERALINCLUDE END: OCCL_NAN_CHECK

}  // namespace openreg
