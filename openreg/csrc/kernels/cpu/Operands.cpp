// What a launch checks of its arguments; see docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/Operands.h"

#include <c10/util/TypeCast.h>

#include <algorithm>
#include <cmath>

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
  uint64_t ones = 1;  // which dimensions are of size 1: these need no loop
  for (const int64_t size : tensor.sizes()) {
    ones = ones << 1 | uint64_t{size == 1};
  }
  mix(static_cast<uint64_t>(dtype) | uint64_t{has_elements} << 6 |
      uint64_t{is_number} << 7 | ones << 8);
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
  mix(static_cast<uint64_t>(number.type()) | 0xff00);
  // Orders of norms and exponents have code of their own.
  if (number.type() == at::kLong) {
    const int64_t value = number.toLong();
    add_choice(value >= -2 && value <= 2 ? value : 5);
    return;
  }
  const double value = number.isComplex() ? 0 : number.to<double>();
  add_choice(value == std::floor(value) && std::abs(value) <= 2 ? std::lround(value)
             : std::isinf(value)                                ? (value > 0 ? 3 : 4)
                                                                : 5);
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

}  // namespace openreg::cpu
