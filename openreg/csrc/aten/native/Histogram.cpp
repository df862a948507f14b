// Counts values; see docs/operators/structured.md.
#include "csrc/aten/native/Histogram.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "csrc/aten/native/HostCheck.h"
#include "csrc/aten/native/OptionalTensor.h"
#include "csrc/aten/native/OutVariant.h"

namespace openreg {
namespace {

// The least and the largest element. The host waits for them.
at::Tensor extremes(const at::Tensor& self) {
  const auto [least, largest] = at::aminmax(self);
  return at::stack({least, largest}).cpu();
}

bool counts_integers(at::ScalarType dtype) {
  return at::isIntegralType(dtype, /*includeBool=*/false);
}

// Inside a kernel. The CPU's library counts floating-point numbers only; a router of
// experts counts integers wherever the device is not the CPU.
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
at::Tensor& write_histc(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                        const at::Scalar& max, at::Tensor& out) {
  return counts_integers(self.scalar_type())
             ? count_integers(self, bins, min.toLong(), max.toLong(), out)
             : at::histc_outf(self, bins, min, max, out);
}
// LITERALINCLUDE END: HISTC_KERNEL

}  // namespace

at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                      const at::Scalar& max, at::Tensor& out) {
  check_same_device("histc", self, out);
  TORCH_CHECK(self.dtype() == out.dtype(),
              "torch.histogram: input tensor and hist tensor should have the same "
              "dtype, but got input ",
              self.dtype(), " and hist ", out.dtype());
  const bool integers = counts_integers(self.scalar_type());
  const double low = min.toDouble();
  const double high = max.toDouble();
  check_arguments(bins > 0 && std::isfinite(low) && std::isfinite(high) && low <= high,
                  [&] { at::histc(at::zeros({1}), bins, min, max); });
  if (low == high && self.numel() > 0 && !integers) {
    const at::Tensor found = extremes(self);
    check_arguments(found.isfinite().all().item<bool>(),
                    [&] { at::histc(found, bins, min, max); });
  }
  resize_out(out, {bins});
  at::assert_no_internal_overlap(out);
  compute_into("histc", write_histc, std::array{out}, self, bins, min, max);
  return out;
}

at::Tensor histc(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                 const at::Scalar& max) {
  at::Tensor out = at::empty({0}, self.options());
  return openreg::histc_out(self, bins, min, max, out);
}

at::Tensor bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights,
                    int64_t minlength) {
  check_same_device("bincount", self, weights);
  check_arguments(
      minlength >= 0 && self.dim() == 1 && counts_integers(self.scalar_type()) &&
          (!is_given(weights) || weights->sizes() == self.sizes()),
      [&] { at::bincount(zeros_for(self), zeros_for(weights), minlength); });
  int64_t bins = minlength;
  if (self.numel() > 0) {
    const at::Tensor found = extremes(self);
    TORCH_CHECK(found[0].item<int64_t>() >= 0,
                "bincount only supports 1-d non-negative integral inputs.");
    bins = std::max(bins, found[1].item<int64_t>() + 1);
  }
  at::ScalarType dtype = at::kLong;
  if (is_given(weights) && self.numel() > 0) {
    dtype = weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  }
  const at::Tensor out = at::empty({bins}, self.options().dtype(dtype));
  compute_into("bincount", at::bincount_outf, std::array{out}, self, weights,
               minlength);
  return out;
}

}  // namespace openreg
