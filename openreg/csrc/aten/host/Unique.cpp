// Distinct values; see docs/operators/meta-functions.md.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/unique_dim_consecutive.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "csrc/aten/ops/HostCheck.h"
#include "csrc/kernels/Unique.h"

namespace openreg {
namespace {

// The values, for each element of the input the index of its value, and how often each
// value occurs.
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

// Only the device can count the values. The kernel writes the number, and the values to
// tensors that are large enough for all. The host waits for the number and makes the
// tensors smaller.
// LITERALINCLUDE START: UNIQUE
template <auto* kKernel, bool kHasDim>
ThreeTensors distinct(const at::Tensor& self, int64_t dim, bool sorted, bool inverse,
                      bool counts) {
  const at::Tensor rows = kHasDim ? self.movedim(dim, 0) : self.reshape(-1);
  const auto indices = self.options().dtype(at::kLong);
  const at::IntArrayRef each = kHasDim ? rows.sizes().slice(0, 1) : self.sizes();
  const c10::DimVector none{0};
  const at::Tensor number = at::empty({}, indices);
  at::Tensor values = at::empty(rows.sizes(), self.options());
  const at::Tensor places =
      at::empty(kHasDim || inverse ? each : at::IntArrayRef(none), indices);
  at::Tensor times = at::empty(kHasDim || counts ? rows.size(0) : 0, indices);
  kKernel(self, dim, sorted, inverse, counts, number, values, places, times);
  const int64_t count = number.item<int64_t>();  // waits
  c10::DimVector sizes(rows.sizes());
  sizes[0] = count;
  values.resize_(sizes);
  times.resize_(std::min(times.numel(), count));
  return {kHasDim ? values.movedim(0, dim) : values, places, times};
}
// LITERALINCLUDE END: UNIQUE

// With the parameters of at::unique_dim.
ThreeTensors dim_consecutive_on_host(const at::Tensor& self, int64_t dim, bool,
                                     bool inverse, bool counts) {
  return at::unique_dim_consecutive(self, dim, inverse, counts);
}

template <auto* kKernel, auto* kOnHost>
ThreeTensors distinct_slices(const at::Tensor& self, int64_t dim, bool sorted,
                             bool inverse, bool counts) {
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  const bool is_usual = self.dim() > 0 && self.numel() > 0;
  check_arguments(is_usual,
                  [&] { kOnHost(zeros_for(self), axis, sorted, inverse, counts); });
  if (!is_usual) {  // handled by the CPU: no slices
    const at::Tensor none = at::empty({0}, self.options().dtype(at::kLong));
    return {at::empty(self.sizes(), self.options()), none, none.clone()};
  }
  return distinct<kKernel, true>(self, axis, sorted, inverse, counts);
}

ThreeTensors unique2(const at::Tensor& self, bool sorted, bool inverse, bool counts) {
  return distinct<kernels::unique2, false>(self, 0, sorted, inverse, counts);
}

std::tuple<at::Tensor, at::Tensor> unique(const at::Tensor& self, bool sorted,
                                          bool inverse) {
  const auto [values, places, times] = unique2(self, sorted, inverse, false);
  return {values, places};
}

ThreeTensors unique_dim(const at::Tensor& self, int64_t dim, bool sorted, bool inverse,
                        bool counts) {
  return distinct_slices<kernels::unique_dim, at::unique_dim>(self, dim, sorted,
                                                              inverse, counts);
}

ThreeTensors unique_dim_consecutive(const at::Tensor& self, int64_t dim, bool inverse,
                                    bool counts) {
  return distinct_slices<kernels::unique_dim_consecutive, dim_consecutive_on_host>(
      self, dim, true, inverse, counts);
}

ThreeTensors unique_consecutive(const at::Tensor& self, bool inverse, bool counts,
                                std::optional<int64_t> dim) {
  if (dim.has_value() && !(*dim == 0 && self.dim() == 1)) {
    return openreg::unique_dim_consecutive(self, *dim, inverse, counts);
  }
  return distinct<kernels::unique_consecutive, false>(self, 0, true, inverse, counts);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_unique", unique);
  m.impl("_unique2", unique2);
  m.impl("unique_dim", unique_dim);
  m.impl("unique_consecutive", unique_consecutive);
  m.impl("unique_dim_consecutive", unique_dim_consecutive);
}

}  // namespace
}  // namespace openreg
