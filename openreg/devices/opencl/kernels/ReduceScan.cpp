// Cumulative sums and products; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/cumprod_meta.h>
#include <ATen/ops/cumsum_meta.h>

#include "csrc/kernels/ReduceLayout.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::reduce {
namespace {

namespace op = at::_ops;
using at::Tensor;
using opencl::define;

// ITEMS work items scan a line together, as many elements at a time: in log2(ITEMS)
// steps, each adds what was added up further to the left.
constexpr opencl::Source kScan{OCL_LAYOUT_TEXT R"(
typedef COMPUTE(C) Value;

kernel void scan(global void* out, global const void* in, const Lines s) {
  const long line = get_global_id(0) / ITEMS;
  const int item = get_global_id(0) % ITEMS;
#if ITEMS == 1
  if (line >= s.count) {
    return;
  }
#endif
  const long to = find_offset(&s.kept, 0, line), from = find_offset(&s.kept, 1, line);
  Value carry = START;
#if ITEMS == 1
  for (long k = 0; k < s.length; ++k) {
    carry = carry OPERATOR (Value)LOAD(I, in, from + k * s.step[1]);
    STORE(O, out, to + k * s.step[0], carry);
  }
#else
  local Value values[ITEMS];
  for (long start = 0; start < s.length; start += ITEMS) {
    const long k = start + item;
    values[item] = k < s.length ? (Value)LOAD(I, in, from + k * s.step[1]) : START;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = 1; width < ITEMS; width *= 2) {
      const Value other = item >= width ? values[item - width] : START;
      barrier(CLK_LOCAL_MEM_FENCE);
      values[item] = other OPERATOR values[item];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (k < s.length) {
      STORE(O, out, to + k * s.step[0], carry OPERATOR values[item]);
    }
    carry = carry OPERATOR values[ITEMS - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
}
)"};

bool scan(const char* text, const Tensor& self, int64_t dim, const Tensor& out) {
  const at::ScalarType dtype = out.scalar_type();
  Lines lines;
  if (!opencl::supports({self, out}) || dtype == at::kBool ||
      !make_lines({out, self}, dim, lines)) {
    return false;
  }
  const bool is_floating = opencl::is_floating(dtype);
  const int64_t items = lines.length >= 256 && lines.count < 1024 ? 64 : 1;
  const std::string options =
      define("I", self.scalar_type()) + define("O", dtype) +
      define("C", is_floating ? opencl::compute_dtype(dtype) : at::kLong) + text +
      " -DITEMS=" + std::to_string(items);
  opencl::launch(kScan, "scan", options, opencl::Range::items(lines.count * items),
                 opencl::writes(out), self, lines);
  return true;
}

using OptionalDtype = std::optional<at::ScalarType>;

bool cumsum(const Tensor& self, int64_t dim, OptionalDtype, const Tensor& out) {
  return scan("-DSTART=0 -DOPERATOR=+", self, dim, out);
}

bool cumprod(const Tensor& self, int64_t dim, OptionalDtype, const Tensor& out) {
  return scan("-DSTART=1 -DOPERATOR=*", self, dim, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  opencl::structured_or_fall_back<op::cumsum, op::cumsum_out,
                                  at::meta::structured_cumsum>(m, cumsum);
  opencl::structured_or_fall_back<op::cumprod, op::cumprod_out,
                                  at::meta::structured_cumprod>(m, cumprod);
}

}  // namespace ocl::kernels::reduce
