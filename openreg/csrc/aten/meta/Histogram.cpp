// Meta functions of operators that count values; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/Histogram.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "csrc/aten/common/TensorArguments.h"
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

void Histc::meta(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                 const at::Scalar& max) {
  const at::Tensor& given = maybe_get_output(0);
  TORCH_CHECK(!given.defined() || self.dtype() == given.dtype(),
              "torch.histogram: input tensor and hist tensor should have the same "
              "dtype, but got input ",
              self.dtype(), " and hist ", given.dtype());
  const double low = min.toDouble();
  const double high = max.toDouble();
  check_arguments(bins > 0 && std::isfinite(low) && std::isfinite(high) && low <= high,
                  [&] { at::histc(at::zeros({1}), bins, min, max); });
  if (low == high && self.numel() > 0 && !counts_integers(self.scalar_type())) {
    const at::Tensor found = extremes(self);
    check_arguments(found.isfinite().all().item<bool>(),
                    [&] { at::histc(found, bins, min, max); });
  }
  output(0, {bins}, self.options());
}

void Bincount::meta(const at::Tensor& self, const std::optional<at::Tensor>& weights,
                    int64_t minlength) {
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
  output(0, {bins}, self.options().dtype(dtype));
}

}  // namespace openreg
