// Kernels that work element by element; see docs/operators/launch.md.
#include "csrc/aten/kernels/Elementwise.h"

#include <ATen/ops/add_cpu_dispatch.h>
#include <ATen/ops/fill_cpu_dispatch.h>

#include "csrc/kernels/cpu/Quiet.h"

namespace openreg::kernels {

void fill(at::Tensor out, const at::Scalar& value) { at::cpu::fill_(out, value); }

void copy(const at::Tensor& self, at::Tensor out) {
  const cpu::Quiet quiet;  // the host has warned
  out.copy_(self);
}

// LITERALINCLUDE START: ADD_KERNEL
void add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha,
         at::ScalarType dtype, at::Tensor out) {
  // Left to itself, torch's kernel would ask for the default dtype when it runs.
  const auto operand = [dtype](const at::Tensor& value) {
    return value.scalar_type() == dtype ? value : value.to(dtype);
  };
  at::cpu::add_outf(operand(self), operand(other), alpha, out);
}
// LITERALINCLUDE END: ADD_KERNEL

}  // namespace openreg::kernels
