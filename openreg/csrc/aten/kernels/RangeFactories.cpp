// Kernels that make ranges of numbers; see docs/operators/structured.md.
#include "csrc/aten/kernels/RangeFactories.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/kaiser_window.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logspace.h>
#include <ATen/ops/range.h>

namespace openreg::kernels {

at::Tensor& linspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         at::Tensor& out) {
  at::Tensor all = at::empty({steps}, out.options());
  return out.copy_(at::linspace_out(all, start, end, steps).view(out.sizes()));
}

at::Tensor& logspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         double base, at::Tensor& out) {
  at::Tensor all = at::empty({steps}, out.options());
  return out.copy_(at::logspace_out(all, start, end, steps, base).view(out.sizes()));
}

at::Tensor& range_out(const at::Scalar& start, const at::Scalar& end,
                      const at::Scalar& step, at::Tensor& out) {
  at::Tensor all = at::empty({out.numel()}, out.options());
  return out.copy_(at::range_out(all, start, end, step).view(out.sizes()));
}

at::Tensor& kaiser_window_out(int64_t length, double beta, at::Tensor& out) {
  return out.copy_(at::kaiser_window(length, /*periodic=*/false, beta, out.options()));
}

at::Tensor& eye_out(int64_t, int64_t, at::Tensor& out) {
  out.zero_().diagonal().fill_(1);
  return out;
}

}  // namespace openreg::kernels
