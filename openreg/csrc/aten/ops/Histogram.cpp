// Counts values; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "csrc/aten/kernels/Histogram.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

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
  launch_out("histc", kernels::histc_out, std::array{out}, self, bins, min, max);
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
    const auto largest = found[1].item<int64_t>();
    constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
    TORCH_CHECK(largest < kLimit, "maximum value of input overflowed, it should be < ",
                kLimit, " but got ", largest);
    bins = std::max(bins, largest + 1);
  }
  at::ScalarType dtype = at::kLong;
  if (is_given(weights) && self.numel() > 0) {
    dtype = weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  }
  const at::Tensor out = at::empty({bins}, self.options().dtype(dtype));
  launch_out("bincount", at::bincount_outf, std::array{out}, self, weights, minlength);
  return out;
}

}  // namespace openreg
