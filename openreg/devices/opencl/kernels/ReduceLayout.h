// How tensors are divided into lines that a kernel reduces or scans; see
// docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>

namespace ocl::kernels::reduce {

using Dims = std::bitset<64>;

// Dimensions of equal size in up to 4 tensors, the slowest first, merged where none of
// the tensors has a gap. Strides are in elements. The struct `Dims` of OpenCL C.
struct Layout {
  static constexpr int64_t kMaxDims = 12;

  int64_t dims = 0;
  std::array<int64_t, kMaxDims> sizes{};
  std::array<std::array<int64_t, kMaxDims>, 4> strides{};
};

// The dimensions of these tensors that `dims` has; false if too many remain. Tensors
// have the same number of dimensions, and undefined ones are left out.
bool make_layout(std::initializer_list<at::Tensor> tensors, const Dims& dims,
                 Layout& layout);

// One line for each element of `kept`, along one dimension. The struct `Lines`.
struct Lines {
  int64_t count, length;
  std::array<int64_t, 4> step;
  Layout kept;
};
bool make_lines(std::initializer_list<at::Tensor> tensors, int64_t dim, Lines& lines);

// OpenCL C for both, a literal to begin a source with. find_offset() gives the offset
// of element n in tensor t.
#define OCL_LAYOUT_TEXT                                                 \
  "typedef struct { long dims, sizes[12], strides[4][12]; } Dims;\n"    \
  "typedef struct { long count, length, step[4]; Dims kept; } Lines;\n" \
  "static long find_offset(const Dims* s, int t, long n) {\n"           \
  "  long offset = 0;\n"                                                \
  "  for (int d = (int)s->dims - 1; d > 0; --d) {\n"                    \
  "    offset += n % s->sizes[d] * s->strides[t][d];\n"                 \
  "    n /= s->sizes[d];\n"                                             \
  "  }\n"                                                               \
  "  return offset + n * s->strides[t][0];\n"                           \
  "}\n"

}  // namespace ocl::kernels::reduce
