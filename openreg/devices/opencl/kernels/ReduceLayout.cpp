// How tensors are divided into lines; see docs/opencl/kernels.md.
#include "csrc/kernels/ReduceLayout.h"

#include <ATen/WrapDimUtils.h>
#include <c10/util/irange.h>

#include <algorithm>

namespace ocl::kernels::reduce {

bool make_layout(std::initializer_list<at::Tensor> tensors, const Dims& dims,
                 Layout& layout) {
  layout = {};
  const at::Tensor& first = *tensors.begin();
  for (const auto dim : c10::irange(first.dim())) {
    const int64_t size = first.size(dim);
    if (!dims[dim] || size == 1) {
      continue;
    }
    const int64_t last = layout.dims - 1;
    bool merges = last >= 0;
    for (size_t t = 0; merges && t < tensors.size(); ++t) {
      const at::Tensor& tensor = tensors.begin()[t];
      merges =
          !tensor.defined() || layout.strides[t][last] == tensor.stride(dim) * size;
    }
    if (!merges && layout.dims == Layout::kMaxDims) {
      return false;
    }
    const int64_t at = merges ? last : layout.dims++;
    layout.sizes[at] = merges ? layout.sizes[at] * size : size;
    for (const auto t : c10::irange(tensors.size())) {
      const at::Tensor& tensor = tensors.begin()[t];
      layout.strides[t][at] = tensor.defined() ? tensor.stride(dim) : 0;
    }
  }
  return true;
}

bool make_lines(std::initializer_list<at::Tensor> tensors, int64_t dim, Lines& lines) {
  const at::Tensor& first = *tensors.begin();
  const bool is_number = first.dim() == 0;
  const int64_t axis = at::maybe_wrap_dim(dim, first.dim());
  lines = {};
  lines.length = is_number ? 1 : first.size(axis);
  lines.count = lines.length == 0 ? 0 : first.numel() / lines.length;
  size_t t = 0;
  for (const at::Tensor& tensor : tensors) {
    lines.step[t++] = is_number || !tensor.defined() ? 0 : tensor.stride(axis);
  }
  Dims kept;
  kept.set();
  kept.reset(axis);
  return make_layout(tensors, kept, lines.kept);
}

}  // namespace ocl::kernels::reduce
