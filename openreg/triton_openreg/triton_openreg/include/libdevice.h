// The functions of CUDA's libdevice, without their `__nv_`; see
// docs/modules/triton-compiler.md.
#pragma once

#include <cmath>
#include <cstdlib>

#include "directed.h"
#include "floats.h"
#include "integers.h"
#include "math_functions.h"
#include "special.h"

// Names and types are those of CUDA: NAMEf for float, NAME for double.
namespace triton_openreg::libdevice {

#define OPENREG_UNARY(name, expression)                \
  inline float name##f(float x) { return expression; } \
  inline double name(double x) { return expression; }
OPENREG_UNARY(acos, std::acos(x))
OPENREG_UNARY(acosh, std::acosh(x))
OPENREG_UNARY(asin, std::asin(x))
OPENREG_UNARY(asinh, std::asinh(x))
OPENREG_UNARY(atan, std::atan(x))
OPENREG_UNARY(atanh, std::atanh(x))
OPENREG_UNARY(cbrt, std::cbrt(x))
OPENREG_UNARY(ceil, std::ceil(x))
OPENREG_UNARY(cos, std::cos(x))
OPENREG_UNARY(cosh, std::cosh(x))
OPENREG_UNARY(cospi, special::cospi(x))
OPENREG_UNARY(cyl_bessel_i0, special::bessel_i(0, x))
OPENREG_UNARY(cyl_bessel_i1, special::bessel_i(1, x))
OPENREG_UNARY(erf, erf_(x))
OPENREG_UNARY(erfc, std::erfc(x))
OPENREG_UNARY(erfcinv, special::erfcinv(x))
OPENREG_UNARY(erfcx, special::erfcx(x))
OPENREG_UNARY(erfinv, special::erfinv(x))
OPENREG_UNARY(exp, exp_(x))
OPENREG_UNARY(exp10, std::pow(10.0, x))
OPENREG_UNARY(exp2, exp2_(x))
OPENREG_UNARY(expm1, std::expm1(x))
OPENREG_UNARY(fabs, std::fabs(x))
OPENREG_UNARY(floor, std::floor(x))
OPENREG_UNARY(log, log_(x))
OPENREG_UNARY(log10, std::log10(x))
OPENREG_UNARY(log1p, std::log1p(x))
OPENREG_UNARY(log2, log2_(x))
OPENREG_UNARY(logb, std::logb(x))
OPENREG_UNARY(nearbyint, std::nearbyint(x))
OPENREG_UNARY(normcdf, std::erfc(-double(x) / special::kSqrt2) / 2)
OPENREG_UNARY(normcdfinv, -special::kSqrt2* special::erfcinv(2.0 * x))
OPENREG_UNARY(rcbrt, 1 / std::cbrt(x))
OPENREG_UNARY(rint, std::nearbyint(x))
OPENREG_UNARY(round, std::round(x))
OPENREG_UNARY(rsqrt, 1 / std::sqrt(x))
OPENREG_UNARY(sin, std::sin(x))
OPENREG_UNARY(sinh, std::sinh(x))
OPENREG_UNARY(sinpi, special::sinpi(x))
OPENREG_UNARY(sqrt, std::sqrt(x))
OPENREG_UNARY(tan, std::tan(x))
OPENREG_UNARY(tanh, tanh_(x))
OPENREG_UNARY(tgamma, std::tgamma(x))
OPENREG_UNARY(trunc, std::trunc(x))
#undef OPENREG_UNARY

#define OPENREG_BINARY(name, expression)                        \
  inline float name##f(float x, float y) { return expression; } \
  inline double name(double x, double y) { return expression; }
OPENREG_BINARY(atan2, std::atan2(x, y))
OPENREG_BINARY(copysign, std::copysign(x, y))
OPENREG_BINARY(fdim, std::fdim(x, y))
OPENREG_BINARY(fmod, std::fmod(x, y))
OPENREG_BINARY(hypot, std::hypot(x, y))
OPENREG_BINARY(nextafter, std::nextafter(x, y))
OPENREG_BINARY(pow, std::pow(x, y))
OPENREG_BINARY(remainder, std::remainder(x, y))
OPENREG_BINARY(rhypot, 1 / std::hypot(x, y))
#undef OPENREG_BINARY

#define OPENREG_POWER(name, call)                                  \
  inline float name##f(float x, int n) { return std::call(x, n); } \
  inline double name(double x, int n) { return std::call(x, n); }
OPENREG_POWER(ldexp, ldexp)
OPENREG_POWER(scalbn, scalbn)
#undef OPENREG_POWER
inline float powif(float x, int n) { return std::pow(double(x), n); }
inline double powi(double x, int n) { return std::pow(x, n); }

inline float fmaf(float x, float y, float z) { return std::fma(x, y, z); }
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }
inline float norm3df(float x, float y, float z) { return std::hypot(x, y, z); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline float rnorm3df(float x, float y, float z) { return 1 / std::hypot(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1 / std::hypot(x, y, z); }
inline double norm4d(double x, double y, double z, double w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
inline float norm4df(float x, float y, float z, float w) { return norm4d(x, y, z, w); }
inline double rnorm4d(double x, double y, double z, double w) {
  return 1 / norm4d(x, y, z, w);
}
inline float rnorm4df(float x, float y, float z, float w) {
  return rnorm4d(x, y, z, w);
}

inline double lgamma(double x) {
  int sign;  // std::lgamma keeps it in a global variable
  return ::lgamma_r(x, &sign);
}
inline float lgammaf(float x) { return lgamma(x); }
inline float j0f(float x) { return ::j0(x); }
inline float j1f(float x) { return ::j1(x); }
inline float jnf(int n, float x) { return ::jn(n, x); }
inline float y0f(float x) { return ::y0(x); }
inline float y1f(float x) { return ::y1(x); }
inline float ynf(int n, float x) { return ::yn(n, x); }
inline double j0(double x) { return ::j0(x); }
inline double j1(double x) { return ::j1(x); }
inline double jn(int n, double x) { return ::jn(n, x); }
inline double y0(double x) { return ::y0(x); }
inline double y1(double x) { return ::y1(x); }
inline double yn(int n, double x) { return ::yn(n, x); }

// Classes of numbers. CUDA writes the type as a last letter.
inline int isnanf(float x) { return x != x; }
inline int isnand(double x) { return x != x; }
inline int isinff(float x) { return std::isinf(x); }
inline int isinfd(double x) { return std::isinf(x); }
inline int finitef(float x) { return std::isfinite(x); }
inline int isfinited(double x) { return std::isfinite(x); }
inline int signbitf(float x) { return std::signbit(x); }
inline int signbitd(double x) { return std::signbit(x); }
inline int ilogbf(float x) { return std::ilogb(x); }
inline int ilogb(double x) { return std::ilogb(x); }
inline int64_t llrintf(float x) { return saturate<int64_t>(std::nearbyint(x)); }
inline int64_t llrint(double x) { return saturate<int64_t>(std::nearbyint(x)); }
inline int64_t llroundf(float x) { return saturate<int64_t>(std::round(x)); }
inline int64_t llround(double x) { return saturate<int64_t>(std::round(x)); }
inline float saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

// The device has no faster approximations.
inline float fast_cosf(float x) { return cosf(x); }
inline float fast_exp10f(float x) { return exp10f(x); }
inline float fast_expf(float x) { return expf(x); }
inline float fast_fdividef(float x, float y) { return x / y; }
inline float fast_log10f(float x) { return log10f(x); }
inline float fast_log2f(float x) { return log2f(x); }
inline float fast_logf(float x) { return logf(x); }
inline float fast_powf(float x, float y) { return powf(x, y); }
inline float fast_sinf(float x) { return sinf(x); }
inline float fast_tanf(float x) { return tanf(x); }
inline float fast_tanhf(float x) { return tanhf(x); }

// Bits and integers.
inline int clz(int32_t x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int clzll(int64_t x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline int popc(int32_t x) { return __builtin_popcount(x); }
inline int popcll(int64_t x) { return __builtin_popcountll(x); }
inline int ffs(int32_t x) { return __builtin_ffs(x); }
inline int ffsll(int64_t x) { return __builtin_ffsll(x); }
template <class T>
T reversed(T x) {
  T result = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
    result = static_cast<T>(result << 1 | (x >> bit & 1));
  }
  return result;
}
inline int32_t brev(int32_t x) { return reversed(x); }
inline int64_t brevll(int64_t x) { return reversed(x); }
inline int32_t byte_perm(int32_t x, int32_t y, int32_t selectors) {
  const uint64_t bytes = uint64_t(uint32_t(y)) << 32 | uint32_t(x);
  uint32_t result = 0;
  for (int n = 0; n < 4; ++n) {
    const int which = selectors >> (4 * n) & 7;
    result |= uint32_t(bytes >> (8 * which) & 0xFF) << (8 * n);
  }
  return static_cast<int32_t>(result);
}
inline int32_t abs(int32_t x) { return x < 0 ? -x : x; }
inline int64_t llabs(int64_t x) { return x < 0 ? -x : x; }
inline int32_t mulhi(int32_t x, int32_t y) { return int64_t(x) * y >> 32; }
inline int32_t umulhi(int32_t x, int32_t y) {
  return multiply_high(uint32_t(x), uint32_t(y));
}
inline int64_t mul64hi(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<__int128>(x) * y >> 64);
}
inline int64_t umul64hi(int64_t x, int64_t y) {
  return multiply_high(uint64_t(x), uint64_t(y));
}
inline int32_t mul24(int32_t x, int32_t y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline int32_t umul24(int32_t x, int32_t y) { return (x & 0xFFFFFF) * (y & 0xFFFFFF); }
inline int32_t sad(int32_t x, int32_t y, int32_t z) {
  return z + (x < y ? y - x : x - y);
}
inline int32_t usad(int32_t x, int32_t y, int32_t z) {
  return z + (uint32_t(x) < uint32_t(y) ? y - x : x - y);
}
inline int32_t hadd(int32_t x, int32_t y) { return (int64_t(x) + y) >> 1; }
inline int32_t rhadd(int32_t x, int32_t y) { return (int64_t(x) + y + 1) >> 1; }
inline int32_t uhadd(int32_t x, int32_t y) {
  return (uint64_t(uint32_t(x)) + uint32_t(y)) >> 1;
}
inline int32_t urhadd(int32_t x, int32_t y) {
  return (uint64_t(uint32_t(x)) + uint32_t(y) + 1) >> 1;
}

// The same bits as another type.
inline int32_t float_as_int(float x) { return std::bit_cast<int32_t>(x); }
inline int32_t float_as_uint(float x) { return std::bit_cast<int32_t>(x); }
inline float int_as_float(int32_t x) { return std::bit_cast<float>(x); }
inline float uint_as_float(int32_t x) { return std::bit_cast<float>(x); }
inline int64_t double_as_longlong(double x) { return std::bit_cast<int64_t>(x); }
inline double longlong_as_double(int64_t x) { return std::bit_cast<double>(x); }
inline int32_t double2loint(double x) { return double_as_longlong(x); }
inline int32_t double2hiint(double x) { return double_as_longlong(x) >> 32; }
inline double hiloint2double(int32_t high, int32_t low) {
  return longlong_as_double(int64_t(high) << 32 | uint32_t(low));
}
inline double rcp64h(double x) {  // its low half is 0
  return longlong_as_double(double_as_longlong(1 / x) & ~int64_t{0xFFFFFFFF});
}

#define OPENREG_ARITHMETIC(T, prefix)                                      \
  OPENREG_ROUNDED(prefix##add, (T x, T y), (x, y),                         \
                  [](T a, T b) -> T { return a + b; })                     \
  OPENREG_ROUNDED(prefix##sub, (T x, T y), (x, y),                         \
                  [](T a, T b) -> T { return a - b; })                     \
  OPENREG_ROUNDED(prefix##mul, (T x, T y), (x, y),                         \
                  [](T a, T b) -> T { return a * b; })                     \
  OPENREG_ROUNDED(prefix##div, (T x, T y), (x, y),                         \
                  [](T a, T b) -> T { return a / b; })                     \
  OPENREG_ROUNDED(prefix##rcp, (T x), (x), [](T a) -> T { return 1 / a; }) \
  OPENREG_ROUNDED(prefix##sqrt, (T x), (x), [](T a) -> T { return std::sqrt(a); })
OPENREG_ARITHMETIC(float, f)
OPENREG_ARITHMETIC(double, d)
OPENREG_ROUNDED(fmaf, (float x, float y, float z), (x, y, z),
                [](float a, float b, float c) { return std::fma(a, b, c); })
OPENREG_ROUNDED(fma, (double x, double y, double z), (x, y, z),
                [](double a, double b, double c) { return std::fma(a, b, c); })
inline float frsqrt_rn(float x) { return 1 / std::sqrt(double(x)); }

// Conversions. `U`: integers without a sign, which arrive as ones with it.
#define OPENREG_CONVERSION(name, From, To, convert) \
  OPENREG_ROUNDED(name, (From x), (x), [](From a) -> To { return convert; })
OPENREG_CONVERSION(double2float, double, float, static_cast<float>(a))
OPENREG_CONVERSION(int2float, int32_t, float, static_cast<float>(a))
OPENREG_CONVERSION(uint2float, int32_t, float, static_cast<float>(uint32_t(a)))
OPENREG_CONVERSION(ll2float, int64_t, float, static_cast<float>(a))
OPENREG_CONVERSION(ull2float, int64_t, float, static_cast<float>(uint64_t(a)))
OPENREG_CONVERSION(ll2double, int64_t, double, static_cast<double>(a))
OPENREG_CONVERSION(ull2double, int64_t, double, static_cast<double>(uint64_t(a)))
OPENREG_CONVERSION(float2int, float, int32_t, saturate<int32_t>(std::nearbyint(a)))
OPENREG_CONVERSION(float2uint, float, int32_t, saturate<uint32_t>(std::nearbyint(a)))
OPENREG_CONVERSION(float2ll, float, int64_t, saturate<int64_t>(std::nearbyint(a)))
OPENREG_CONVERSION(float2ull, float, int64_t, saturate<uint64_t>(std::nearbyint(a)))
OPENREG_CONVERSION(double2int, double, int32_t, saturate<int32_t>(std::nearbyint(a)))
OPENREG_CONVERSION(double2uint, double, int32_t, saturate<uint32_t>(std::nearbyint(a)))
OPENREG_CONVERSION(double2ll, double, int64_t, saturate<int64_t>(std::nearbyint(a)))
OPENREG_CONVERSION(double2ull, double, int64_t, saturate<uint64_t>(std::nearbyint(a)))
inline double int2double_rn(int32_t x) { return x; }
inline double uint2double_rn(int32_t x) { return uint32_t(x); }
#undef OPENREG_ARITHMETIC
#undef OPENREG_CONVERSION

}  // namespace triton_openreg::libdevice
