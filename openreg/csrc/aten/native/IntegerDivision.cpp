// Divides integers by zero without a fault; see docs/operators/structured.md.
#include "csrc/aten/native/IntegerDivision.h"

#include <ATen/CPUFunctions.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/where.h>

#include <limits>
#include <utility>

namespace openreg {
namespace {

bool contains(const at::Tensor& tensor, int64_t number) {
  return tensor.eq(number).any().item<bool>();
}

std::pair<at::Scalar, at::Scalar> limits(at::ScalarType dtype) {
  return AT_DISPATCH_V2(dtype, "limits",
                        AT_WRAP([]() -> std::pair<at::Scalar, at::Scalar> {
                          return {std::numeric_limits<scalar_t>::min(),
                                  std::numeric_limits<scalar_t>::max()};
                        }),
                        AT_EXPAND(AT_INTEGRAL_TYPES_V2));
}

// `divide(self, other, out)` gives a quotient, or a remainder.
template <bool kQuotient, class Divide>
at::Tensor& divide_integers(const at::Tensor& self, const at::Tensor& other,
                            Divide divide, at::Tensor& out) {
  const at::ScalarType dtype = at::result_type(self, other);
  const bool has_zero =
      at::isIntegralType(dtype, /*includeBool=*/false) && contains(other, 0);
  const bool may_overflow = at::isSignedType(dtype) && !at::isFloatingType(dtype) &&
                            !at::isComplexType(dtype) && contains(other, -1);
  if (!has_zero && !may_overflow) {
    return divide(self, other, out);
  }
  const auto [smallest, largest] = limits(dtype);
  const at::Tensor dividend = self.to(dtype), divisor = other.to(dtype);
  const at::Tensor by_zero = divisor.eq(0);
  at::Tensor replaced = by_zero;
  if (may_overflow) {  // then x / 1 and x % 1 are right
    replaced = replaced.logical_or(divisor.eq(-1).logical_and(dividend.eq(smallest)));
  }
  at::Tensor result = at::empty(out.sizes(), dividend.options());
  divide(dividend, at::where(replaced, at::ones_like(divisor), divisor), result);
  const at::Tensor ones = at::full(
      {}, at::isSignedType(dtype) ? at::Scalar(-1) : largest, dividend.options());
  return out.copy_(at::where(by_zero, kQuotient ? ones : dividend, result));
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

}  // namespace openreg
