// Functions in OpenCL C that formulas call, for values of one type; see
// docs/opencl/kernels.md.
#pragma once

namespace ocl::opencl {

// `Value` is the type of the computation; FLOATING is defined if it is float or double.
// Dividing an integer by zero may end the process and cannot throw: x / 0 is -1 and
// x % 0 is x. A NaN of an argument stays in at_least() and at_most().
inline constexpr const char* kMath = R"(
#ifdef FLOATING
static Value at_least(Value x, Value bound) {
  return x < bound || isnan(bound) ? bound : x;
}
static Value at_most(Value x, Value bound) {
  return x > bound || isnan(bound) ? bound : x;
}
static Value modulo_trunc(Value x, Value y) { return fmod(x, y); }
static Value add_exponentials(Value x, Value y) {  // log(exp(x) + exp(y))
  const Value most = fmax(x, y);
  return isinf(x) && x == y ? x : most + log1p(exp(-fabs(x - y)));
}
static Value sigmoid(Value x) { return 1 / (1 + exp(-x)); }
static Value x_log_y(Value x, Value y) {
  return isnan(y) ? y : x == 0 ? 0 : x * log(y);
}
static Value gelu(Value x) { return x * (Value)0.5 * (1 + erf(x * (Value)M_SQRT1_2)); }
static Value gelu_slope(Value x) {
  const Value density = exp(x * x * (Value)-0.5) * (Value)0.3989422804014327;
  return (Value)0.5 * (1 + erf(x * (Value)M_SQRT1_2)) + x * density;
}
// The approximation with a hyperbolic tangent, where 0.797... is sqrt(2 / pi).
static Value tanh_gelu(Value x) {
  const Value inner = (Value)0.7978845608028654 * (x + (Value)0.044715 * x * x * x);
  return (Value)0.5 * x * (1 + tanh(inner));
}
static Value tanh_gelu_slope(Value x) {
  const Value inner = (Value)0.7978845608028654 * (x + (Value)0.044715 * x * x * x);
  const Value t = tanh(inner);
  const Value slope = (Value)0.7978845608028654 * (1 + (Value)0.134145 * x * x);
  return (Value)0.5 * (1 + t) + (Value)0.5 * x * (1 - t * t) * slope;
}
static Value mish_slope(Value x) {
  const Value t = tanh(log1p(exp(x)));
  return t + x * (1 - t * t) * sigmoid(x);
}
static Value silu_slope(Value x) {
  const Value s = sigmoid(x);
  return s * (1 + x * (1 - s));
}
static Value log_sigmoid_slope(Value x) {
  const Value z = exp(-fabs(x));
  return x < 0 ? 1 - z / (1 + z) : z / (1 + z);
}
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
static Value at_least(Value x, Value bound) { return x < bound ? bound : x; }
static Value at_most(Value x, Value bound) { return x > bound ? bound : x; }
static int is_minus_one(Value y) { return y < 0 && y == (Value)-1; }
static Value div_trunc(Value x, Value y) {
  return y == 0 ? (Value)-1 : is_minus_one(y) ? (Value)-x : (Value)(x / y);
}
static Value modulo_trunc(Value x, Value y) {
  return y == 0 ? x : is_minus_one(y) ? (Value)0 : (Value)(x % y);
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
    return base == 1 ? 1 : !is_minus_one(base) ? 0 : exponent % 2 != 0 ? -1 : 1;
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
