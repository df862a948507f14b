// Small tensors that stand for large ones in a trial; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/Shrink.h"

#include <ATen/ops/zeros.h>

#include <algorithm>

namespace openreg::cpu {
namespace {

constexpr int64_t kSmallSize = 8;
constexpr int64_t kSmallTensor =
    4096;  // elements: quicker than what a trial costs else

}  // namespace

void Shrink::add(const at::Tensor& tensor) {
  if (tensor.defined()) {
    add(tensor.sizes());
    is_needed_ |= tensor.numel() > kSmallTensor;
  }
}

void Shrink::add(at::IntArrayRef numbers) {
  for (const int64_t number : numbers) {
    if (number > kSmallSize) {
      large_.push_back(number);
    }
  }
}

void Shrink::end_of_arguments() {
  std::sort(large_.begin(), large_.end());
  large_.erase(std::unique(large_.begin(), large_.end()), large_.end());
}

int64_t Shrink::small(int64_t size) const {
  if (!is_needed_ || size <= kSmallSize) {
    return size;
  }
  const auto* at = std::lower_bound(large_.begin(), large_.end(), size);
  return kSmallSize + 1 + (at - large_.begin());
}

c10::DimVector Shrink::small(at::IntArrayRef sizes) const {
  c10::DimVector small(sizes);
  for (int64_t& size : small) {
    size = this->small(size);
  }
  return small;
}

at::Tensor Shrink::small(const at::Tensor& tensor) const {
  if (!tensor.defined()) {
    return {};
  }
  at::Tensor result = at::zeros(
      small(tensor.sizes()), at::TensorOptions(at::kCPU).dtype(tensor.scalar_type()));
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

}  // namespace openreg::cpu
