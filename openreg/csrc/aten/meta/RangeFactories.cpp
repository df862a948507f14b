// Meta functions that size ranges of numbers; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/RangeFactories.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/range.h>

namespace openreg {

void RangeFactory::make_room(int64_t steps) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  const at::Tensor& out = maybe_get_output(0);
  if (out.numel() != steps) {
    out.resize_({steps});
  }
}

void Linspace::meta(const at::Scalar&, const at::Scalar&, int64_t steps) {
  make_room(steps);
}

void Logspace::meta(const at::Scalar&, const at::Scalar&, int64_t steps, double) {
  make_room(steps);
}

// Meta tensors have sizes and no elements, which is enough to count the numbers.
void Arange::meta(const at::Scalar& start, const at::Scalar& end,
                  const at::Scalar& step) {
  const at::Tensor& out = maybe_get_output(0);
  const int64_t count =
      at::arange(start, end, step, out.options().device(at::kMeta)).numel();
  if (out.numel() != count && out.numel() > 0) {
    TORCH_WARN("The number of elements in the out tensor of shape ", out.sizes(),
               " is ", out.numel(),
               " which does not match the computed number of elements ", count,
               ". Note that this may occur as a result of rounding error. The ",
               "out tensor will be resized to a tensor of shape (", count, ",).");
  }
  make_room(count);
}

void Range::meta(const at::Scalar& start, const at::Scalar& end,
                 const at::Scalar& step) {
  at::Tensor meta = at::empty({0}, maybe_get_output(0).options().device(at::kMeta));
  make_room(at::range_out(meta, start, end, step).numel());
}

void Eye::meta(int64_t n, int64_t m) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  maybe_get_output(0).resize_({n, m});
}

}  // namespace openreg
