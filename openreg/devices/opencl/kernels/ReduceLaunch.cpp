// Launches a reduction; see docs/opencl/kernels.md.
#include "csrc/kernels/ReduceLaunch.h"

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "csrc/kernels/ReduceSource.h"

namespace ocl::kernels::reduce {
namespace {

using at::Tensor;
using opencl::define;
using opencl::launch;
using opencl::Number;
using opencl::Range;

struct Shape {
  int64_t count, length, splits, chunk;
  Layout kept, reduced;
};

constexpr int64_t kItems = 64;           // of a group that reduces one line
constexpr int64_t kChunk = 256;          // elements that a work item reduces at least
constexpr int64_t kWorkItems = 1 << 14;  // that keep a device busy
constexpr int64_t kPartBytes = 32;       // no less than a Carry has

// An output in the shape of the input, where the reduced dimensions have stride 0.
Tensor keep_dims(const Tensor& out, const Tensor& self, const Dims& dims) {
  if (!out.defined()) {
    return out;
  }
  Tensor kept = out;
  if (out.dim() != self.dim()) {
    for (int64_t dim = 0; dim < self.dim(); ++dim) {
      kept = dims[dim] ? kept.unsqueeze(dim) : kept;
    }
  }
  return kept.expand(self.sizes());
}

// As many as the lines are too few for the device, and so long that it pays.
int64_t count_splits(int64_t lines, int64_t length, int64_t items) {
  const int64_t wanted = (kWorkItems + lines * items - 1) / (lines * items);
  // However many lines there are, an item adds up no more than this, to be precise.
  const int64_t precise = length / (items * 16 * kChunk);
  return std::max<int64_t>(
      1, std::max(precise, std::min(wanted, length / (items * kChunk))));
}

bool has_layout(const Tensor& self, const Tensor& out, const Tensor& second,
                const Dims& dims, Shape& shape) {
  return make_layout({self, keep_dims(out, self, dims), keep_dims(second, self, dims)},
                     ~dims, shape.kept) &&
         make_layout({self}, dims, shape.reduced);
}

// Whether neighboring elements of a line are nearer than neighboring lines.
bool runs_along_lines(const Shape& shape) {
  const auto least = [](const Layout& layout) {
    int64_t stride = std::numeric_limits<int64_t>::max();
    for (int64_t dim = 0; dim < layout.dims; ++dim) {
      stride = std::min(stride, layout.strides[0][dim]);
    }
    return stride;
  };
  return least(shape.reduced) <= least(shape.kept);
}

// One program computes either result of an operation or both.
at::ScalarType second_dtype(std::string_view operation, const Tensor& out,
                            const Tensor& second) {
  if (second.defined()) {
    return second.scalar_type();
  }
  return operation == "MAX" || operation == "MIN" ? at::kLong : out.scalar_type();
}

}  // namespace

Dims dims_of(const Tensor& self, at::OptionalIntArrayRef dims) {
  const bool is_empty = dims.has_value() && dims->empty();
  return at::dim_list_to_bitset(is_empty ? at::OptionalIntArrayRef() : dims,
                                self.dim());
}

Dims dims_of(const Tensor& self, std::optional<int64_t> dim) {
  return dim.has_value() ? dims_of(self, *dim)
                         : dims_of(self, at::OptionalIntArrayRef());
}

Dims dims_of(const Tensor& self, int64_t dim) {
  return dims_of(self, at::OptionalIntArrayRef(dim));
}

bool reduce(const char* operation, const Tensor& self, const Dims& dims,
            at::ScalarType compute, const Tensor& out, const Tensor& second,
            const at::Scalar& number) {
  if (!opencl::supports({self, out, second}) || !opencl::supports(compute)) {
    return false;
  }
  const Tensor& any = out.defined() ? out : second;
  const int64_t count = any.numel();
  if (count == 0) {
    return true;
  }
  Shape shape{count, 1, 1, 0, {}, {}};
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    shape.length *= dims[dim] ? self.size(dim) : 1;
  }
  if (!has_layout(self, out, second, dims, shape)) {
    return false;
  }
  const bool as_group = shape.length >= kItems && runs_along_lines(shape);
  const int64_t items = as_group ? kItems : 1;
  shape.splits = count_splits(count, shape.length, items);
  shape.chunk = (shape.length + shape.splits - 1) / shape.splits;
  const std::string options =
      define("I", self.scalar_type()) + define("C", compute) +
      define("O0", out.defined() ? out.scalar_type() : self.scalar_type()) +
      define("O1", second_dtype(operation, out, second)) + "-D" + operation +
      (compute == at::kBool ? " -DTRUTH" : "") +
      (opencl::is_floating(compute) ? " -DFLOATING" : "") +
      " -DITEMS=" + std::to_string(items);
  const Number value(number, compute);
  Tensor parts;
  if (shape.splits > 1) {
    parts =
        at::empty({count * shape.splits * kPartBytes}, self.options().dtype(at::kByte));
  }
  const int64_t groups = static_cast<int64_t>(Range::items(count * items).global[0]);
  launch(kReduce, "reduce", options, Range({groups, shape.splits}, {Range::kGroup, 1}),
         opencl::writes(out), opencl::writes(second), opencl::writes(parts), self,
         value, shape);
  if (shape.splits > 1) {
    launch(kReduce, "merge_parts", options, Range::items(count), opencl::writes(out),
           opencl::writes(second), parts, value, shape);
  }
  return true;
}

}  // namespace ocl::kernels::reduce
