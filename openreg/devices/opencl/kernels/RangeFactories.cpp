// Ranges of numbers, and the unit matrix; see docs/opencl/kernels.md.
#include "csrc/aten/meta/RangeFactories.h"

#include <ATen/Operators.h>
#include <ATen/ops/empty.h>

#include "csrc/aten/structured/OutOnly.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl::range_factories {
namespace {

namespace op = at::_ops;
using at::Scalar;
using at::Tensor;

// A range counts from its start; the second half of a linspace, from its end.
constexpr Source kRange{R"(
kernel void range(global T* out, COMPUTE(C) start, COMPUTE(C) step, long count) {
  const long i = get_global_id(0);
  if (i < count) {
    STORE(T, out, i, start + i * step);
  }
}

kernel void linspace(global T* out, COMPUTE(C) start, COMPUTE(C) end, COMPUTE(C) step,
                     long count) {
  const long i = get_global_id(0);
  if (i < count) {
    STORE(T, out, i, i < count / 2 ? start + i * step : end - (count - 1 - i) * step);
  }
}
)"};

// Calls `write` with a contiguous tensor, and copies to `out` if it is not that one.
template <class Write>
void with_contiguous(Tensor& out, const Write& write) {
  if (out.numel() == 0) {
    return;
  }
  const bool direct = out.is_contiguous();
  const Tensor whole = direct ? out : at::empty(out.sizes(), out.options());
  write(whole);
  if (!direct) {
    out.copy_(whole);
  }
}

void launch_range(const char* name, const Tensor& out, at::ScalarType dtype,
                  const auto&... numbers) {
  launch(kRange, name, define("T", out.scalar_type()) + define("C", dtype),
         Range::items(out.numel()), writes(out), numbers..., out.numel());
}

// As the CPU, which computes float32 in float64.
void arange(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  if (!supports(out.scalar_type())) {
    fall_back<op::arange_start_out>(start, end, step, out);
    return;
  }
  const at::ScalarType dtype = !is_floating(out.scalar_type()) ? at::kLong
                               : supports(at::kDouble)         ? at::kDouble
                                                               : at::kFloat;
  with_contiguous(out, [&](const Tensor& whole) {
    launch_range("range", whole, dtype, Number(start, dtype), Number(step, dtype));
  });
}

void linspace(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  const at::ScalarType dtype = compute_dtype(out.scalar_type());
  if (!is_floating(dtype) || !supports(dtype)) {
    fall_back<op::linspace_out>(start, end, steps, out);
    return;
  }
  with_contiguous(out, [&](const Tensor& whole) {
    const double width = end.to<double>() - start.to<double>();
    const double step = steps > 1 ? width / static_cast<double>(steps - 1) : 0;
    // Of one number, it is the start.
    launch_range("linspace", whole, dtype, Number(start, dtype),
                 Number(steps > 1 ? end : start, dtype), Number(step, dtype));
  });
}

void eye(int64_t, int64_t, Tensor& out) { out.zero_().diagonal().fill_(1); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_out<op::arange_start_out, Arange>(m, arange);
  structured_out<op::linspace_out, Linspace>(m, linspace);
  structured_out<op::eye_m_out, Eye>(m, eye);
}

}  // namespace
}  // namespace ocl::opencl::range_factories
