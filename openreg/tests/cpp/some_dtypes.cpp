// A kernel that leaves some dtypes to the CPU; see docs/operators/fallback.md.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/hypot_ops.h>
#include <ATen/ops/sqrt.h>
#include <torch/library.h>

// LITERALINCLUDE START: SOME_DTYPES
void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

at::Tensor some_hypot(const at::Tensor& self, const at::Tensor& other) {
  if (self.scalar_type() != at::kFloat || other.scalar_type() != at::kFloat) {
    using Hypot = at::_ops::hypot;
    return at::native::call_fallback_fn<&on_cpu, Hypot>::call(self, other);
  }
  return at::sqrt(self * self + other * other);  // stands for a kernel
}
// LITERALINCLUDE END: SOME_DTYPES

TORCH_LIBRARY(openreg_some_dtypes, m) { m.def("hypot(Tensor x, Tensor y) -> Tensor"); }
TORCH_LIBRARY_IMPL(openreg_some_dtypes, PrivateUse1, m) { m.impl("hypot", some_hypot); }
