// What a launch checks of its arguments; see docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/Operands.h"

#include <ATen/ops/zeros.h>
#include <c10/util/TypeCast.h>

#include <algorithm>

namespace openreg::cpu {
namespace {

template <class T>
bool fits(const at::Scalar& number) {
  if (number.isFloatingPoint()) {
    return !c10::overflows<T, double>(number.toDouble());
  }
  if (number.isComplex()) {
    return !c10::overflows<T, c10::complex<double>>(number.toComplexDouble());
  }
  if (number.isBoolean()) {
    return true;
  }
  return number.type() == at::kLong &&
         !c10::overflows<T, int64_t>(number.toLong(), /*strict_unsigned=*/true);
}

}  // namespace

void Operands::add(const at::Tensor& tensor, Access access) {
  writes_ |= access != Access::Read;
  if (!tensor.defined()) {
    mix(0x3e);
    return;
  }
  const bool has_elements = tensor.layout() != at::kStrided || tensor.numel() > 0;
  const at::ScalarType dtype = tensor.scalar_type();
  writes_elements_ |= access != Access::Read && has_elements;
  if (first_dtype_ == at::ScalarType::Undefined) {
    first_dtype_ = dtype;
  }
  reads_common_ |= access == Access::Read && dtype == common_ &&
                   !tensor.unsafeGetTensorImpl()->is_wrapped_number();
  const bool is_number = tensor.is_cpu() && tensor.dim() == 0;
  mix(static_cast<uint64_t>(dtype) | uint64_t{has_elements} << 6 |
      uint64_t{is_number} << 7);
  if (is_number) {
    return;
  }
  TORCH_CHECK(device_.is_cpu() || device_ == tensor.device(),
              "Expected all tensors to be on the same device, but found at least two "
              "devices, ",
              device_, " and ", tensor.device(), "!");
  device_ = tensor.device();
}

void Operands::add(const at::Scalar& number) {
  numbers_.push_back(&number);
  mix(static_cast<uint64_t>(number.type()) | 0x100);
}

void Operands::add(std::string_view mode) {
  for (const char letter : mode) {
    mix(static_cast<uint64_t>(letter));
  }
}

c10::Device Operands::device(const char* name) const {
  TORCH_CHECK(device_.is_privateuseone(), "openreg: ", name,
              " was called without a tensor on the openreg device");
  return device_;
}

bool Operands::numbers_fit(at::ScalarType dtype) const {
  const auto fit = [&](auto fits_into) {
    return std::all_of(numbers_.begin(), numbers_.end(),
                       [&](const at::Scalar* number) { return fits_into(*number); });
  };
  switch (dtype) {
#define OPENREG_CASE(T, kName) \
  case at::ScalarType::kName:  \
    return fit(fits<T>);
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(OPENREG_CASE)
#undef OPENREG_CASE
    default:
      return numbers_.empty();
  }
}

c10::DimVector Operands::small(at::IntArrayRef sizes) {
  c10::DimVector small(sizes);
  for (int64_t& size : small) {
    size = std::min<int64_t>(size, 8);
  }
  return small;
}

at::Tensor Operands::tiny(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return {};
  }
  at::Tensor tiny = at::zeros(small(tensor.sizes()),
                              at::TensorOptions(at::kCPU).dtype(tensor.scalar_type()));
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    tiny.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return tiny;
}

}  // namespace openreg::cpu
