// Softmax and its logarithm, forward and backward; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/_log_softmax_backward_data_meta.h>
#include <ATen/ops/_log_softmax_meta.h>
#include <ATen/ops/_softmax_backward_data_meta.h>
#include <ATen/ops/_softmax_meta.h>

#include "csrc/kernels/ReduceLayout.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::softmax {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::Tensor;
using opencl::define;

// ITEMS work items share a line.
constexpr opencl::Source kSoftmax{OCL_LAYOUT_TEXT R"(
typedef COMPUTE(T) Value;

#define FIND_LINE                               \
  const long line = get_global_id(0) / ITEMS;   \
  const int item = get_global_id(0) % ITEMS;    \
  if (ITEMS == 1 && line >= s.count) {          \
    return;                                     \
  }                                             \
  const long to = find_offset(&s.kept, 0, line);   \
  const long from = find_offset(&s.kept, 1, line); \
  const long other = find_offset(&s.kept, 2, line);
#define FOR_EACH(k) for (long k = item; k < s.length; k += ITEMS)

#if ITEMS == 1
#define JOIN_ITEMS(value, operation)
#else
#define JOIN_ITEMS(value, operation)                                          \
  barrier(CLK_LOCAL_MEM_FENCE);                                               \
  values[item] = value;                                                       \
  for (int width = ITEMS / 2; width > 0; width /= 2) {                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    if (item < width) {                                                       \
      values[item] = operation(values[item], values[item + width]);           \
    }                                                                         \
  }                                                                           \
  barrier(CLK_LOCAL_MEM_FENCE);                                               \
  value = values[0];
#endif
#define ADD(a, b) ((a) + (b))

kernel void forward(global void* out, global const void* in, const Lines s) {
  local Value values[ITEMS];
  FIND_LINE
  Value most = -INFINITY, sum = 0;
  FOR_EACH(k) { most = fmax(most, LOAD(T, in, from + k * s.step[1])); }
  JOIN_ITEMS(most, fmax)
  FOR_EACH(k) { sum += exp(LOAD(T, in, from + k * s.step[1]) - most); }
  JOIN_ITEMS(sum, ADD)
  const Value log_sum = log(sum);
  FOR_EACH(k) {
    const Value x = LOAD(T, in, from + k * s.step[1]) - most;
    STORE(T, out, to + k * s.step[0], LOG ? x - log_sum : exp(x) / sum);
  }
}

kernel void backward(global void* out, global const void* grad,
                     global const void* result, const Lines s) {
  local Value values[ITEMS];
  FIND_LINE
  Value sum = 0;
  FOR_EACH(k) {
    const Value g = LOAD(T, grad, from + k * s.step[1]);
    sum += LOG ? g : g * LOAD(T, result, other + k * s.step[2]);
  }
  JOIN_ITEMS(sum, ADD)
  FOR_EACH(k) {
    const Value g = LOAD(T, grad, from + k * s.step[1]);
    const Value y = LOAD(T, result, other + k * s.step[2]);
    STORE(T, out, to + k * s.step[0], LOG ? g - exp(y) * sum : (g - sum) * y);
  }
}
)"};

template <bool kLog>
std::string options(at::ScalarType dtype, int64_t items) {
  return define("T", dtype) + (kLog ? "-DLOG=1" : "-DLOG=0") +
         " -DITEMS=" + std::to_string(items);
}

// One work item for each line, if neighboring lines are neighbors in memory.
int64_t items_of(const reduce::Lines& lines) {
  return lines.length >= 64 && lines.step[1] == 1 ? 64 : 1;
}

template <bool kLog>
bool forward(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  reduce::Lines lines;
  const at::ScalarType dtype = out.scalar_type();
  if (!opencl::supports(dtype) || self.scalar_type() != dtype ||
      !reduce::make_lines({out, self}, dim, lines)) {
    return false;
  }
  const int64_t items = items_of(lines);
  opencl::launch(kSoftmax, "forward", options<kLog>(dtype, items),
                 opencl::Range::items(lines.count * items), opencl::writes(out), self,
                 lines);
  return true;
}

template <bool kLog>
bool backward(const Tensor& grad, const Tensor& result, int64_t dim, at::ScalarType,
              const Tensor& out) {
  reduce::Lines lines;
  const at::ScalarType dtype = out.scalar_type();
  if (!opencl::supports(dtype) || grad.scalar_type() != dtype ||
      result.scalar_type() != dtype ||
      !reduce::make_lines({out, grad, result}, dim, lines)) {
    return false;
  }
  const int64_t items = items_of(lines);
  opencl::launch(kSoftmax, "backward", options<kLog>(dtype, items),
                 opencl::Range::items(lines.count * items), opencl::writes(out), grad,
                 result, lines);
  return true;
}

// CUDA's kernels convert from half; the CPU's, to which others fall back, do not.
template <class Softmax>
struct WithoutConversion : Softmax {
  void meta(const Tensor& self, int64_t dim, bool half_to_float) {
    TORCH_CHECK(!half_to_float, "ocl: softmax: half_to_float is not supported; ",
                "convert the input first");
    Softmax::meta(self, dim, half_to_float);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using opencl::structured_or_fall_back;
  structured_or_fall_back<op::_softmax, op::_softmax_out,
                          WithoutConversion<meta::structured__softmax>>(m,
                                                                        forward<false>);
  structured_or_fall_back<op::_log_softmax, op::_log_softmax_out,
                          WithoutConversion<meta::structured__log_softmax>>(
      m, forward<true>);
  structured_or_fall_back<op::_softmax_backward_data, op::_softmax_backward_data_out,
                          meta::structured__softmax_backward_data>(m, backward<false>);
  structured_or_fall_back<op::_log_softmax_backward_data,
                          op::_log_softmax_backward_data_out,
                          meta::structured__log_softmax_backward_data>(m,
                                                                       backward<true>);
}

}  // namespace ocl::kernels::softmax
