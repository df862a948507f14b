// Counts values; see docs/operators/structured.md.
#include "csrc/aten/meta/Histogram.h"

#include <ATen/Operators.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;

// The CPU's library counts floating-point numbers only; a router of experts counts
// integers wherever the device is not the CPU.
at::Tensor& count_integers(const at::Tensor& self, int64_t bins, int64_t min,
                           int64_t max, at::Tensor& out) {
  const at::Tensor values = self.to(at::kLong).contiguous();
  if (min == max && values.numel() > 0) {
    min = values.min().item<int64_t>();
    max = values.max().item<int64_t>();
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  const at::Tensor counts = at::zeros({bins}, at::kLong);
  int64_t* count = counts.mutable_data_ptr<int64_t>();
  const int64_t* value = values.const_data_ptr<int64_t>();
  for (int64_t index = 0; index < values.numel(); ++index) {
    if (value[index] >= min && value[index] <= max) {
      const auto offset = static_cast<double>(value[index] - min);
      const double bin = offset * static_cast<double>(bins) / (max - min);
      ++count[std::min(static_cast<int64_t>(bin), bins - 1)];
    }
  }
  return out.copy_(counts);
}

// LITERALINCLUDE START: HISTC_KERNEL
at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                      const at::Scalar& max, at::Tensor& out) {
  return at::isIntegralType(self.scalar_type(), /*includeBool=*/false)
             ? count_integers(self, bins, min.toLong(), max.toLong(), out)
             : at::histc_outf(self, bins, min, max, out);
}
// LITERALINCLUDE END: HISTC_KERNEL

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::histc, op::histc_out, Histc, histc_out>(m);
  cpu::on_cpu_without_out<op::bincount, Bincount, at::bincount_outf>(m);
}

}  // namespace openreg
