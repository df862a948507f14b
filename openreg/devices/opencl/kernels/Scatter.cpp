// Operators that write elements by index along one dimension; see
// docs/opencl/kernels.md.
#include <ATen/ops/full.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_add_ops.h>
#include <ATen/ops/index_copy_meta.h>
#include <ATen/ops/index_copy_ops.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_add_ops.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_ops.h>
#include <ATen/ops/scatter_reduce_meta.h>
#include <ATen/ops/scatter_reduce_ops.h>

#include <limits>

#include "csrc/kernels/IndexingSelection.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Types.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::Scalar;
using at::Tensor;

// In place, `out` is `self`.
void start_with(const Tensor& self, const Tensor& out) {
  if (!out.is_same(self)) {
    out.copy_(self);
  }
}

// Whether combine_selected() takes it; what no kernel takes must not be written.
bool computes(const Tensor& out) { return supports(out.scalar_type()); }

// The operation of kCombine for what the operators call it; null if there is none.
const char* operation_of(std::string_view reduce) {
  if (reduce == "add" || reduce == "sum") {
    return "plus";
  }
  if (reduce == "multiply" || reduce == "prod") {
    return "times";
  }
  return reduce == "amin" ? "least" : reduce == "amax" ? "largest" : nullptr;
}

// A number that changes nothing when it is combined.
Scalar neutral_for(const char* operation, at::ScalarType dtype) {
  const std::string_view name = operation;
  if (name == "plus" || name == "times") {
    return name == "plus" ? 0 : 1;
  }
  const bool least = name == "least";
  if (at::isFloatingType(dtype)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return least ? kInfinity : -kInfinity;
  }
  if (dtype == at::kBool) {
    return least;
  }
  const auto bits = static_cast<int>(8 * at::elementSize(dtype));
  const bool has_sign = at::isSignedType(dtype);
  const int64_t largest =
      std::numeric_limits<int64_t>::max() >> (64 - bits - (has_sign ? 0 : 1));
  return least ? largest : has_sign ? -largest - 1 : 0;
}

Tensor one_number(const Scalar& value, const Tensor& index, const Tensor& out) {
  return at::full({}, value, out.options()).expand(index.sizes());
}

bool scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
             const Tensor& out) {
  start_with(self, out);
  if (index.numel() > 0) {
    TORCH_INTERNAL_ASSERT(write_selected(along("scatter", src, out, dim, index)));
  }
  return true;
}

bool scatter_value(const Tensor& self, int64_t dim, const Tensor& index,
                   const Scalar& value, const Tensor& out) {
  start_with(self, out);
  if (index.numel() > 0) {
    TORCH_INTERNAL_ASSERT(
        fill_selected(along("scatter", index, out, dim, index), value));
  }
  return true;
}

bool scatter_with(const char* name, const Tensor& self, int64_t dim,
                  const Tensor& index, const Tensor& src, const char* operation,
                  const Tensor& out, bool include_self = true) {
  if (operation == nullptr || !computes(out)) {
    return false;
  }
  start_with(self, out);
  if (index.numel() > 0) {
    if (!include_self) {
      fill_selected(along(name, index, out, dim, index),
                    neutral_for(operation, out.scalar_type()));
    }
    combine_selected(along(name, src, out, dim, index), operation);
  }
  return true;
}

bool scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                 const Tensor& src, const Tensor& out) {
  return scatter_with("scatter_add", self, dim, index, src, "plus", out);
}

bool scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src, std::string_view reduce, const Tensor& out) {
  return scatter_with("scatter", self, dim, index, src, operation_of(reduce), out);
}

bool scatter_value_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                          const Scalar& value, std::string_view reduce,
                          const Tensor& out) {
  return computes(out) &&
         scatter_with("scatter", self, dim, index, one_number(value, index, out),
                      operation_of(reduce), out);
}

bool scatter_reduce_two(const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& src, std::string_view reduce, bool include_self,
                        const Tensor& out) {
  return scatter_with("scatter_reduce", self, dim, index, src, operation_of(reduce),
                      out, include_self);
}

bool index_add(const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& source, const Scalar& alpha, const Tensor& out) {
  if (!computes(out)) {
    return false;
  }
  start_with(self, out);
  if (index.numel() > 0) {
    combine_selected(slices("index_add", source, out, dim, index), "plus", alpha);
  }
  return true;
}

bool index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor& source, const Tensor& out) {
  start_with(self, out);
  if (index.numel() > 0) {
    TORCH_INTERNAL_ASSERT(
        write_selected(slices("index_copy", source, out, dim, index)));
  }
  return true;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::scatter_src, op::scatter_src_out,
                          meta::structured_scatter_src>(m, scatter);
  structured_or_fall_back<op::scatter_value, op::scatter_value_out,
                          meta::structured_scatter_value>(m, scatter_value);
  structured_or_fall_back<op::scatter_reduce, op::scatter_reduce_out,
                          meta::structured_scatter_reduce>(m, scatter_reduce);
  structured_or_fall_back<op::scatter_value_reduce, op::scatter_value_reduce_out,
                          meta::structured_scatter_value_reduce>(m,
                                                                 scatter_value_reduce);
  structured_or_fall_back<op::scatter_add, op::scatter_add_out,
                          meta::structured_scatter_add>(m, scatter_add);
  structured_or_fall_back<op::scatter_reduce_two, op::scatter_reduce_two_out,
                          meta::structured_scatter_reduce_two>(m, scatter_reduce_two);
  structured_or_fall_back<op::index_add, op::index_add_out, meta::structured_index_add>(
      m, index_add);
  structured_or_fall_back<op::index_copy, op::index_copy_out,
                          meta::structured_index_copy>(m, index_copy);
}

}  // namespace
}  // namespace ocl::opencl
