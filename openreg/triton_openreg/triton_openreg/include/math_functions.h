// Functions of floating-point numbers; see docs/modules/triton-compiler.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "floats.h"

namespace triton_openreg {

// Those of the C library, which the compiler calls once for each element.
#define OPENREG_FUNCTION(name)                          \
  inline float name##_(float x) { return std::name(x); } \
  inline double name##_(double x) { return std::name(x); }
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
#undef OPENREG_FUNCTION

template <class T>
T roundeven_(T x) { return std::nearbyint(x); }
template <class T>
T rsqrt_(T x) { return T(1) / std::sqrt(x); }
template <class T>
T atan2_(T y, T x) { return std::atan2(y, x); }
template <class T>
T powf_(T x, T y) { return std::pow(x, y); }
template <class T>
T copysign_(T x, T y) { return std::copysign(x, y); }
template <class T>
T fma_(T x, T y, T z) { return std::fma(x, y, z); }
template <class T>
  requires std::is_floating_point_v<T>
T remainder_of(T x, T y) { return std::fmod(x, y); }
template <Small T>
T remainder_of(T x, T y) { return T(std::fmod(float(x), float(y))); }

inline double exp_(double x) { return std::exp(x); }
inline double exp2_(double x) { return std::exp2(x); }
inline double log_(double x) { return std::log(x); }
inline double log2_(double x) { return std::log2(x); }
inline double tanh_(double x) { return std::tanh(x); }
inline double erf_(double x) { return std::erf(x); }

// POLY
inline float exp_(float x) { return std::exp(x); }
inline float exp2_(float x) { return std::exp2(x); }
inline float log_(float x) { return std::log(x); }
inline float log2_(float x) { return std::log2(x); }
inline float tanh_(float x) { return std::tanh(x); }
inline float erf_(float x) { return std::erf(x); }

}  // namespace triton_openreg
