// Functions in OpenCL C that formulas call, for values of one type; see
// docs/opencl/kernels.md.
#pragma once

namespace ocl::opencl {

// `Value` is the type of the computation; FLOATING tells whether it is float or double.
// Dividing an integer by zero may end the process and cannot throw: x / 0 is -1 and
// x % 0 is x. A NaN of an argument stays in at_least() and at_most().
inline constexpr const char* kMath = R"(
static Value at_least(Value x, Value bound) {
  return x < bound || bound != bound ? bound : x;
}
static Value at_most(Value x, Value bound) {
  return x > bound || bound != bound ? bound : x;
}
#ifdef FLOATING
static Value sigmoid(Value x) { return 1 / (1 + exp(-x)); }
static Value softplus(Value x) { return log1p(exp(x)); }
static Value div_trunc(Value x, Value y) { return trunc(x / y); }
static Value modulo(Value x, Value y) {
  const Value rest = fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
// As Python's: the quotient of what is left without the remainder, which is exact.
static Value div_floor(Value x, Value y) {
  if (y == 0) {
    return x / y;
  }
  const Value rest = fmod(x, y);
  Value quotient = (x - rest) / y;
  if (rest != 0 && (y < 0) != (rest < 0)) {
    quotient -= 1;
  }
  if (quotient == 0) {
    return copysign((Value)0, x / y);
  }
  const Value rounded = floor(quotient);
  return quotient - rounded > (Value)0.5 ? rounded + 1 : rounded;
}
// A rational approximation of two branches, and two steps of Newton's method.
static Value inverse_erf(Value x) {
  if (!(fabs(x) < 1)) {
    return fabs(x) == 1 ? copysign((Value)INFINITY, x) : (Value)NAN;
  }
  Value y;
  if (fabs(x) <= (Value)0.7) {
    const Value z = x * x;
    y = x * ((((Value)-0.140543331 * z + (Value)0.914624893) * z - (Value)1.645349621) *
                 z + (Value)0.886226899) /
        (((((Value)0.012229801 * z - (Value)0.329097515) * z + (Value)1.442710462) * z -
          (Value)2.118377725) * z + 1);
  } else {
    const Value z = sqrt(-log((1 - fabs(x)) / 2));
    y = copysign((((Value)1.641345311 * z + (Value)3.429567803) * z -
                  (Value)1.624906493) * z - (Value)1.970840454, x) /
        (((Value)1.637067800 * z + (Value)3.543889200) * z + 1);
  }
  for (int i = 0; i < 2; ++i) {
    y -= (erf(y) - x) / ((Value)1.1283791670955126 * exp(-y * y));
  }
  return y;
}
#else
static Value div_trunc(Value x, Value y) {
  return y == 0 ? (Value)-1 : y == (Value)-1 && (Value)-1 < 0 ? (Value)-x : x / y;
}
static Value modulo_trunc(Value x, Value y) {
  return y == 0 ? x : y == (Value)-1 && (Value)-1 < 0 ? (Value)0 : x % y;
}
static Value modulo(Value x, Value y) {
  const Value rest = modulo_trunc(x, y);
  return y != 0 && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
static Value div_floor(Value x, Value y) {
  const Value quotient = div_trunc(x, y);
  const Value rest = modulo_trunc(x, y);
  return y != 0 && rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;
}
static Value power(Value base, Value exponent) {
  if (exponent < 0) {
    return base == 1                ? 1
           : base == (Value)-1 && base < 0 ? (exponent % 2 != 0 ? -1 : 1)
                                    : 0;
  }
  Value result = 1;
  while (exponent != 0) {
    if (exponent & 1) {
      result *= base;
    }
    exponent /= 2;
    base *= base;
  }
  return result;
}
// A shift by as many bits as there are, or by a negative number, leaves nothing.
#define BITS (8 * (Value)sizeof(Value))
static Value shift_left(Value x, Value by) {
  return by < 0 || by >= BITS ? (Value)0 : (Value)(x << by);
}
static Value shift_right(Value x, Value by) {
  return x >> (by < 0 || by >= BITS ? BITS - 1 : by);
}
#endif
)";

}  // namespace ocl::opencl
