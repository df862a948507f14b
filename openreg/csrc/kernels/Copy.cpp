// Copies on one device that convert dtypes, strides and pending bits; see
// docs/operators/minimal-copies.md.
#include "csrc/aten/ops/CopyKernel.h"
#include "csrc/kernels/cpu/Launch.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: COPY_KERNEL
void convert(const at::Tensor& src, at::Tensor& dst) {
  const IgnoreWarnings ignored;  // the host has warned
  dst.copy_(src);
}

void launch_copy(const at::Tensor& src, const at::Tensor& dst) {
  if (src.scalar_type() == dst.scalar_type()) {
    cpu::launch("copy_", convert, src, dst);
  } else {
    cpu::call("copy_", convert, src, dst);  // ATen cannot convert every dtype
  }
}

[[maybe_unused]] const bool copy_registered = ((copy_kernel = launch_copy), true);
// LITERALINCLUDE END: COPY_KERNEL

}  // namespace
}  // namespace openreg
