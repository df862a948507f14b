// fill_ with a number; see docs/operators/borrowed-kernels.md.
#include <ATen/ops/fill_cpu_dispatch.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/Launch.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: FILL
at::Tensor& fill_(at::Tensor& self, const at::Scalar& value) {
  cpu::call(
      cpu::Options("fill_"),
      [](at::Tensor& out, const at::Scalar& number) { at::cpu::fill_(out, number); },
      self, value);
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("fill_.Scalar", fill_); }
// LITERALINCLUDE END: FILL

}  // namespace
}  // namespace openreg
