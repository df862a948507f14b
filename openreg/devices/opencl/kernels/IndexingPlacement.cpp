// Finds where the elements of several operands are; see docs/opencl/kernels.md.
#include "csrc/kernels/IndexingPlacement.h"

#include <ATen/Dispatch_v2.h>

#include <algorithm>
#include <cstring>

namespace ocl::opencl {

std::string join(std::initializer_list<const char*> texts) {
  std::string all;
  for (const char* text : texts) {
    all += text;
  }
  return all;
}

std::optional<Placement> placement_of(at::IntArrayRef sizes,
                                      const std::array<c10::DimVector, 3>& strides,
                                      const std::array<bool, 64>& apart) {
  Placement placement;
  bool last_apart = false;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    placement.count *= sizes[dim];
    if (sizes[dim] == 1) {
      continue;
    }
    auto last = static_cast<size_t>(placement.dims);
    const auto continues = [&](int operand) {
      return placement.strides[operand][last - 1] == strides[operand][dim] * sizes[dim];
    };
    const bool joins = last > 0 && last_apart == apart[dim] && continues(0) &&
                       continues(1) && continues(2);
    if (joins) {
      --last;
    } else if (last == Placement::kDims) {
      return std::nullopt;
    }
    placement.sizes[last] = joins ? placement.sizes[last] * sizes[dim] : sizes[dim];
    for (int operand = 0; operand < 3; ++operand) {
      placement.strides[operand][last] = strides[operand][dim];
    }
    placement.dims = static_cast<int64_t>(last) + 1;
    last_apart = apart[dim];
  }
  return placement;
}

std::optional<Placement> placement_of(const at::Tensor& a, const at::Tensor& b,
                                      const at::Tensor& c) {
  std::array<c10::DimVector, 3> strides;
  const std::array<const at::Tensor*, 3> operands{&a, &b, &c};
  for (size_t i = 0; i < operands.size(); ++i) {
    strides[i].resize(a.dim(), 0);
    if (operands[i]->defined()) {
      const at::Tensor same = operands[i]->expand(a.sizes());
      std::copy(same.strides().begin(), same.strides().end(), strides[i].begin());
    }
  }
  return placement_of(a.sizes(), strides);
}

std::string define_element(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return "-DELEMENT=uchar ";
    case 2:
      return "-DELEMENT=ushort ";
    case 4:
      return "-DELEMENT=uint ";
    case 8:
      return "-DELEMENT=ulong ";
    default:
      return "-DELEMENT=ulong2 ";
  }
}

Element::Element(const at::Scalar& number, at::ScalarType dtype) : size_(0) {
  AT_DISPATCH_V2(dtype, "ocl_element", AT_WRAP([&] {
                   const auto value = number.to<scalar_t>();
                   static_assert(sizeof(value) <= sizeof(bytes_));
                   std::memcpy(bytes_.data(), &value, sizeof(value));
                   size_ = sizeof(value);
                 }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
                 AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
                 at::kHalf, at::kBFloat16, at::kBool, at::kComplexHalf);
}

}  // namespace ocl::opencl
