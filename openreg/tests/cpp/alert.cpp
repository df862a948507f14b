// An operator without a fixed order; see docs/operators/deterministic.md.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/sum.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/HostKernel.h"

// LITERALINCLUDE START: ALERT
// Imagine a kernel that adds with atomics, in the order in which threads arrive.
at::Tensor atomic_sum(const at::Tensor& self) {
  at::globalContext().alertNotDeterministic("atomic_sum");
  return at::sum(self);
}
// LITERALINCLUDE END: ALERT

// LITERALINCLUDE START: ALERT_LATE
at::Tensor alert_in_kernel(const at::Tensor& self) {
  openreg::cpu::launch_on("alert_in_kernel", self.device(), [] {
    at::globalContext().alertNotDeterministic("alert_in_kernel");  // too late
  });
  return self;
}
// LITERALINCLUDE END: ALERT_LATE

TORCH_LIBRARY(openreg_alert, m) {
  m.def("atomic_sum(Tensor x) -> Tensor");
  m.def("alert_in_kernel(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(openreg_alert, PrivateUse1, m) {
  m.impl("atomic_sum", atomic_sum);
  m.impl("alert_in_kernel", alert_in_kernel);
}
