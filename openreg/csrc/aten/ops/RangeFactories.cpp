// Makes ranges of numbers; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/range.h>

#include "csrc/aten/kernels/RangeFactories.h"
#include "csrc/aten/launch/LaunchOut.h"

namespace openreg {
namespace {

// As on the CPU: a tensor of the right number of elements keeps its sizes and strides.
void make_room(int64_t steps, at::Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  if (out.numel() != steps) {
    out.resize_({steps});
  }
  at::assert_no_internal_overlap(out);
}

at::Tensor& linspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         at::Tensor& out) {
  make_room(steps, out);
  launch_out("linspace", kernels::linspace_out, std::array{out}, start, end, steps);
  return out;
}

at::Tensor& logspace_out(const at::Scalar& start, const at::Scalar& end, int64_t steps,
                         double base, at::Tensor& out) {
  make_room(steps, out);
  launch_out("logspace", kernels::logspace_out, std::array{out}, start, end, steps,
             base);
  return out;
}

// Meta tensors have sizes and no elements: they tell how many numbers there will be.
at::Tensor& arange_out(const at::Scalar& start, const at::Scalar& end,
                       const at::Scalar& step, at::Tensor& out) {
  const int64_t count =
      at::arange(start, end, step, out.options().device(at::kMeta)).numel();
  if (out.numel() != count && out.numel() > 0) {
    TORCH_WARN("The number of elements in the out tensor of shape ", out.sizes(),
               " is ", out.numel(),
               " which does not match the computed number of elements ", count,
               ". Note that this may occur as a result of rounding error. The ",
               "out tensor will be resized to a tensor of shape (", count, ",).");
  }
  make_room(count, out);
  launch_out(
      "arange",
      static_cast<at::Tensor& (*)(const at::Scalar&, const at::Scalar&,
                                  const at::Scalar&, at::Tensor&)>(at::arange_outf),
      std::array{out}, start, end, step);
  return out;
}

at::Tensor& range_out(const at::Scalar& start, const at::Scalar& end,
                      const at::Scalar& step, at::Tensor& out) {
  const at::Tensor meta = at::empty({0}, out.options().device(at::kMeta));
  make_room(at::range_out(const_cast<at::Tensor&>(meta), start, end, step).numel(),
            out);
  launch_out("range", kernels::range_out, std::array{out}, start, end, step);
  return out;
}

at::Tensor& range_of_ones_out(const at::Scalar& start, const at::Scalar& end,
                              at::Tensor& out) {
  return range_out(start, end, /*step=*/1, out);
}

at::Tensor& eye_m_out(int64_t n, int64_t m, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  out.resize_({n, m});
  launch_out("eye", kernels::eye_out, std::array{out}, n, m);
  return out;
}

at::Tensor& eye_out(int64_t n, at::Tensor& out) { return eye_m_out(n, n, out); }

}  // namespace

void register_ranges(torch::Library& m) {
  m.impl("arange.start_out", arange_out);
  m.impl("linspace.out", linspace_out);
  m.impl("logspace.out", logspace_out);
  m.impl("range.out", range_out);
  m.impl("range.out_", range_of_ones_out);
  m.impl("eye.out", eye_out);
  m.impl("eye.m_out", eye_m_out);
}

}  // namespace openreg
