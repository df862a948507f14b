// Asks ATen's CPU kernels, before a launch, whether they would refuse the arguments;
// see docs/operators/structured.md.
#include "csrc/aten/native/KernelLibrary.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <unordered_set>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/Launch.h"

namespace openreg {
namespace {

at::TensorOptions on_host(const at::Tensor& tensor) {
  return at::TensorOptions().dtype(tensor.scalar_type()).device(at::kCPU);
}

// What a kernel says of stand-ins is not meant for the caller.
class Silence final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

void try_kernel(c10::function_ref<void()> trial) {
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard warnings(&silence);
  const DeviceSide scope;
  const at::DisableRecordFunctionGuard unrecorded;
  trial();
}

}  // namespace

void KernelLibrary::require(uint64_t signature, c10::function_ref<void()> trial,
                            bool has_text) {
  thread_local std::unordered_set<uint64_t> known;
  if (C10_LIKELY(known.contains(signature))) {
    return;
  }
  try {
    try_kernel(trial);
  } catch (const c10::NotImplementedError&) {
    throw;
  } catch (const c10::Error&) {
    if (has_text) {
      throw;
    }
    // About values, which the stand-ins do not have.
  }
  known.insert(signature);
}

void KernelLibrary::require_values(c10::function_ref<void()> trial) {
  try_kernel(trial);
}

at::Tensor stand_in(const at::Tensor& tensor) {
  if (tensor.is_cpu()) {
    return tensor;
  }
  const at::Tensor one = at::zeros({}, on_host(tensor));
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
