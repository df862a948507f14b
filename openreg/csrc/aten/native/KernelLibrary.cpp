// Asks ATen's CPU kernels, before a launch, whether they would refuse the arguments;
// see docs/operators/structured.md.
#include "csrc/aten/native/KernelLibrary.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/record_function.h>

#include <unordered_set>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/Launch.h"

namespace openreg {
namespace {

at::TensorOptions on_host(const at::Tensor& tensor) {
  return at::TensorOptions().dtype(tensor.scalar_type()).device(at::kCPU);
}

// What a trial has instead of device memory. One number for a whole tensor costs
// nothing, but a kernel may insist on the layout that its caller made.
struct StandIns {
  int value;
  bool has_layout;
};

thread_local StandIns stand_ins{0, false};

// What a kernel says of stand-ins is not meant for the caller.
class Silence final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

void try_kernel(c10::function_ref<void()> trial, StandIns with) {
  stand_ins = with;
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard warnings(&silence);
  const DeviceSide scope;
  const at::DisableRecordFunctionGuard unrecorded;
  trial();
}

}  // namespace

void KernelLibrary::require(uint64_t signature, c10::function_ref<void()> trial) {
  thread_local std::unordered_set<uint64_t> known;
  if (C10_LIKELY(known.contains(signature))) {
    return;
  }
  // An index of 0 is never too large, and a divisor of 1 is allowed.
  for (const StandIns with :
       {StandIns{0, false}, StandIns{0, true}, StandIns{1, true}}) {
    try {
      try_kernel(trial, with);
      break;
    } catch (const c10::NotImplementedError&) {
      throw;
    } catch (const c10::Error&) {
      if (with.value == 1) {
        throw;
      }
    }
  }
  known.insert(signature);
}

void KernelLibrary::require_values(c10::function_ref<void()> trial) {
  try_kernel(trial, StandIns{0, true});
}

at::Tensor stand_in(const at::Tensor& tensor) {
  if (tensor.is_cpu()) {
    return tensor;
  }
  if (stand_ins.has_layout) {
    at::Tensor all =
        at::empty_strided(tensor.sizes(), tensor.strides(), on_host(tensor));
    return all.fill_(stand_ins.value);
  }
  const at::Tensor one = at::scalar_tensor(stand_ins.value, on_host(tensor));
  return one.expand(tensor.sizes());
}

at::Tensor stand_in_for_output(const at::Tensor& out) {
  return at::empty(out.sizes(), on_host(out));
}

bool fits(const at::Scalar& number, at::ScalarType dtype) {
  try {
    check_scalar(number, dtype);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

}  // namespace openreg
