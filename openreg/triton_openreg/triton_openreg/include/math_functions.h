// Functions of floating-point numbers; see docs/modules/triton-compiler.md.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "floats.h"

namespace triton_openreg {

// Those of the C library, under the names that compilers have for them: <cmath> takes
// longer to compile than most kernels.
#define OPENREG_FUNCTION(name)                                     \
  inline float name##_(float x) { return __builtin_##name##f(x); } \
  inline double name##_(double x) { return __builtin_##name(x); }
OPENREG_FUNCTION(ceil)
OPENREG_FUNCTION(floor)
OPENREG_FUNCTION(trunc)
OPENREG_FUNCTION(sqrt)
OPENREG_FUNCTION(fabs)
OPENREG_FUNCTION(sin)
OPENREG_FUNCTION(cos)
OPENREG_FUNCTION(tan)
OPENREG_FUNCTION(atan)
OPENREG_FUNCTION(cbrt)
OPENREG_FUNCTION(log1p)
OPENREG_FUNCTION(expm1)
OPENREG_FUNCTION(nearbyint)
#undef OPENREG_FUNCTION
#define OPENREG_FUNCTION(name)                                                 \
  inline float name##_(float x, float y) { return __builtin_##name##f(x, y); } \
  inline double name##_(double x, double y) { return __builtin_##name(x, y); }
OPENREG_FUNCTION(atan2)
OPENREG_FUNCTION(copysign)
OPENREG_FUNCTION(fmod)
OPENREG_FUNCTION(pow)
#undef OPENREG_FUNCTION

inline float fma_(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma_(double x, double y, double z) { return __builtin_fma(x, y, z); }
template <class T>
T rsqrt_(T x) {
  return T(1 / sqrt_(x));
}
template <class T>
  requires(!std::is_integral_v<T>)
T remainder_of(T x, T y) {
  if constexpr (Small<T>) {
    return T(fmod_(float(x), float(y)));
  } else {
    return fmod_(x, y);
  }
}

inline double exp_(double x) { return __builtin_exp(x); }
inline double exp2_(double x) { return __builtin_exp2(x); }
inline double log_(double x) { return __builtin_log(x); }
inline double log2_(double x) { return __builtin_log2(x); }
inline double tanh_(double x) { return __builtin_tanh(x); }
inline double erf_(double x) { return __builtin_erf(x); }

// Those of float that kernels use most have no branches, so that the compiler makes
// vector instructions of a loop. Their error is at most 3 units of the last digit.
template <class T>
T multiply_add(T a, T b, T c) {  // rounds once where that is one instruction
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(a, b, c);
  if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, c);
#endif
  return a * b + c;
}

// first + x * (second + x * (third + ...))
inline float polynomial(float, float last) { return last; }
template <class... T>
float polynomial(float x, float first, T... more) {
  return multiply_add(x, polynomial(x, more...), first);
}

inline float round_to_integer(float x) {  // of up to 22 bits, to even if between two
  constexpr float kMagic = 0x1.8p23f;     // has a last digit of 1
  return (x + kMagic) - kMagic;
}

constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147181f;

// exp(r) for |r| < 0.35: Taylor's series.
inline float small_exp(float r) {
  return polynomial(r, 1.f, 1.f, 1 / 2.f, 1 / 6.f, 1 / 24.f, 1 / 120.f, 1 / 720.f,
                    1 / 5040.f);
}

// 2 to the power n, for -127 < n < 128.
inline float power_of_two(int n) { return std::bit_cast<float>((n + 127) << 23); }

// exp(r) * 2 to the power n, for |r| < 0.35.
inline float scaled_exp(float r, float n) {
  const int power = static_cast<int>(n), first = power >> 1;
  // Two factors, since one could overflow.
  return small_exp(r) * power_of_two(first) * power_of_two(power - first);
}

inline float exp_(float x) {
  x = x < -104.f ? -104.f : x;  // 0 from there on
  x = x > 89.f ? 89.f : x;      // infinity
  const float n = round_to_integer(x * kLog2e);
  return scaled_exp(multiply_add(n, -kLn2Low, multiply_add(n, -kLn2High, x)), n);
}

inline float exp2_(float x) {
  x = x < -151.f ? -151.f : x;
  x = x > 129.f ? 129.f : x;
  const float n = round_to_integer(x);
  return scaled_exp((x - n) * kLn2, n);
}

// The logarithm of a factor in [0.7, 1.42], and the power of two that is left.
struct Logarithm {
  float factor;
  float power;
};

inline Logarithm split_log(float x) {
  const bool tiny = x < 0x1p-126f;
  const auto bits = std::bit_cast<int32_t>(tiny ? x * 0x1p23f : x);
  const int power = (bits - 0x3F3504F3) >> 23;  // of the number divided by sqrt(0.5)
  const float f = std::bit_cast<float>(bits - (power << 23)) - 1;
  const float rest = polynomial(f, 3.33333144e-1f, -2.49999827e-1f, 2.00019943e-1f,
                                -1.66693770e-1f, 1.42230224e-1f, -1.23836356e-1f,
                                1.18413940e-1f, -1.17868948e-1f, 6.98419409e-2f);
  const float factor = f + f * f * multiply_add(f, rest, -0.5f);
  return {factor, static_cast<float>(tiny ? power - 23 : power)};
}

// What the logarithm of a number that is not positive and finite is.
inline float log_or_edge(float x, float logarithm) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float edge = x == 0  ? -infinity
                     : x < 0 ? std::numeric_limits<float>::quiet_NaN()
                             : x;
  return x > 0 && x < infinity ? logarithm : edge;
}

inline float log_(float x) {
  const auto [factor, power] = split_log(x);
  return log_or_edge(x, power * kLn2High + (power * kLn2Low + factor));
}

inline float log2_(float x) {
  const auto [factor, power] = split_log(x);
  return log_or_edge(x, multiply_add(factor, kLog2e, power));
}

inline float tanh_(float x) {
  const float size = fabs_(x), square = x * x;
  const float small =
      x + x * square *
              polynomial(square, -3.33333332e-1f, 1.33333018e-1f, -5.39587837e-2f,
                         2.17647503e-2f, -8.32959285e-3f, 2.27589565e-3f);
  const float large = 1 - 2 / (exp_(2 * size) + 1);
  return size < 0.625f ? small : copysign_(large, x);
}

inline float erf_(float x) {
  const float size = fabs_(x), square = x * x;
  const float small =
      x * polynomial(square, 1.12837917f, -3.76126271e-1f, 1.12836002e-1f,
                     -2.68544441e-2f, 5.18953433e-3f, -8.02083237e-4f, 7.88909005e-5f);
  const float inside = size > 4 ? 4 : size;  // erf is 1 from there on
  const float rest = polynomial(inside, -2.04369915e-4f, 1.12966121f, 6.33039495e-1f,
                                1.08639145e-1f, -2.53736693e-2f, 4.28243747e-3f,
                                -4.63804222e-4f, 2.53174843e-5f, -2.51515596e-7f);
  const float n = round_to_integer(-rest * kLog2e);  // at least -25
  const float r = multiply_add(n, -kLn2, -rest);     // exact enough, since tail < 0.16
  const float tail = small_exp(r) * power_of_two(static_cast<int>(n));
  const float large = copysign_(1 - tail, x);
  return size < 1 ? small : large;
}

// Of small numbers: in float.
#define OPENREG_FUNCTION(name) \
  template <Small T>           \
  T name(T x) {                \
    return T(name(float(x)));  \
  }
OPENREG_FUNCTION(ceil_)
OPENREG_FUNCTION(floor_)
OPENREG_FUNCTION(trunc_)
OPENREG_FUNCTION(fabs_)
OPENREG_FUNCTION(sqrt_)
OPENREG_FUNCTION(sin_)
OPENREG_FUNCTION(cos_)
OPENREG_FUNCTION(exp_)
OPENREG_FUNCTION(exp2_)
OPENREG_FUNCTION(log_)
OPENREG_FUNCTION(log2_)
OPENREG_FUNCTION(tanh_)
OPENREG_FUNCTION(erf_)
#undef OPENREG_FUNCTION

}  // namespace triton_openreg
