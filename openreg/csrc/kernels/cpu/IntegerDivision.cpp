// Divides integers by zero without a fault; see docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/IntegerDivision.h"

#include <ATen/CPUFunctions.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace openreg::cpu {
namespace {

bool contains(const at::Tensor& tensor, int64_t number) {
  return tensor.eq(number).any().item<bool>();
}

// Of a signed dtype.
int64_t smallest(at::ScalarType dtype) {
  const auto bits = 8 * static_cast<int>(c10::elementSize(dtype));
  return std::numeric_limits<int64_t>::min() >> (64 - bits);
}

// `divide(self, other, out)` gives a quotient, or a remainder.
template <bool kQuotient, class Divide>
at::Tensor& divide_integers(const at::Tensor& self, const at::Tensor& other,
                            Divide divide, at::Tensor& out) {
  const at::ScalarType dtype = at::result_type(self, other);
  if (!at::isIntegralType(dtype, /*includeBool=*/false)) {
    return divide(self, other, out);
  }
  const bool may_overflow = at::isSignedType(dtype) && contains(other, -1);
  if (!may_overflow && !contains(other, 0)) {
    return divide(self, other, out);
  }
  const at::Tensor dividend = self.to(dtype), divisor = other.to(dtype);
  const at::Tensor by_zero = divisor.eq(0);
  at::Tensor replaced = by_zero;
  if (may_overflow) {  // then x / 1 and x % 1 are right
    replaced =
        replaced.logical_or(divisor.eq(-1).logical_and(dividend.eq(smallest(dtype))));
  }
  at::Tensor result = at::empty(out.sizes(), dividend.options());
  divide(dividend, divisor.masked_fill(replaced, 1), result);
  const at::Tensor all_bits = at::zeros({}, dividend.options()).bitwise_not_();
  return out.copy_(at::where(by_zero, kQuotient ? all_bits : dividend, result));
}

}  // namespace

at::Tensor& fmod_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  return divide_integers<false>(self, other, at::cpu::fmod_outf, out);
}

at::Tensor& remainder_out(const at::Tensor& self, const at::Tensor& other,
                          at::Tensor& out) {
  return divide_integers<false>(self, other, at::cpu::remainder_outf, out);
}

at::Tensor& floor_divide_out(const at::Tensor& self, const at::Tensor& other,
                             at::Tensor& out) {
  return divide_integers<true>(self, other, at::cpu::floor_divide_outf, out);
}

at::Tensor& div_mode_out(const at::Tensor& self, const at::Tensor& other,
                         std::optional<std::string_view> mode, at::Tensor& out) {
  const auto divide = [&](const at::Tensor& a, const at::Tensor& b,
                          at::Tensor& quotient) -> at::Tensor& {
    return at::cpu::div_outf(a, b, mode, quotient);
  };
  return mode.has_value() ? divide_integers<true>(self, other, divide, out)
                          : divide(self, other, out);
}

}  // namespace openreg::cpu
