// Copies on one device that convert dtypes, strides and pending bits; see
// docs/operators/minimal-copies.md.
#include <ATen/TensorIterator.h>
#include <ATen/native/Copy.h>
#include <ATen/native/DispatchStub.h>

#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/Quiet.h"

namespace openreg {
namespace {

void convert(const at::Tensor& from, at::Tensor& to) {
  const cpu::Quiet quiet;  // the host has warned
  to.copy_(from);
}

// LITERALINCLUDE START: COPY_KERNEL
void copy_kernel(at::TensorIterator& iterator, bool /*non_blocking*/) {
  cpu::call(cpu::Options("copy_"), convert, iterator.tensor(1), iterator.tensor(0));
}

}  // namespace
}  // namespace openreg

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(copy_stub, &openreg::copy_kernel)
}  // namespace at::native
// LITERALINCLUDE END: COPY_KERNEL
