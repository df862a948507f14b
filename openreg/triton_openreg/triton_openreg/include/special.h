// Functions that the C library does not have; see docs/modules/triton-compiler.md.
#pragma once

#include <cmath>
#include <limits>

namespace triton_openreg::special {

constexpr double kSqrtPi = 1.7724538509055160273;
constexpr double kSqrt2 = 1.4142135623730950488;
constexpr double kPi = 3.1415926535897932385;

// The inverse of erfc: a first guess, then Halley's method, which triples the digits.
inline double erfcinv(double x) {
  if (!(x > 0 && x < 2)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return x == 0 ? infinity : x == 2 ? -infinity : std::nan("");
  }
  if (x > 1) return -erfcinv(2 - x);
  const double size = -std::log(x * (2 - x)), a = 0.147, b = 2 / (kPi * a) - size / 2;
  double y = std::sqrt(std::sqrt(b * b + size / a) - b);
  for (int step = 0; step < 4; ++step) {
    const double error = (std::erfc(y) - x) * kSqrtPi / 2 * std::exp(y * y);
    y += error / (1 + y * error);
  }
  return y;
}

inline double erfinv(double x) {
  if (!(std::fabs(x) < 0.5)) return std::copysign(erfcinv(1 - std::fabs(x)), x);
  double y = x * kSqrtPi / 2;  // near 0, 1 - x would lose digits
  for (int step = 0; step < 5; ++step) {
    const double error = (std::erf(y) - x) * kSqrtPi / 2 * std::exp(y * y);
    y -= error / (1 + y * error);
  }
  return y;
}

// exp(x * x) * erfc(x), also where the one overflows and the other is 0.
inline double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double s = 1 / (x * x);
  return (1 - s / 2 * (1 - 1.5 * s * (1 - 2.5 * s))) / (x * kSqrtPi);
}

// The power series: all terms are positive, so that no digits cancel.
inline double bessel_i(int order, double x) {
  const double quarter = x * x / 4;
  double term = order == 0 ? 1 : std::fabs(x) / 2, sum = term;
  for (int k = 1; term > sum * 1e-17 && k < 2000; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return order == 1 ? std::copysign(sum, x) : sum;
}

// Of multiples of pi: exact where the result is 0 or 1.
inline double sinpi(double x) {
  double r = std::remainder(x, 2.0);
  if (std::fabs(r) > 0.5) r = std::copysign(1 - std::fabs(r), r);
  return std::sin(kPi * r);
}

inline double cospi(double x) {
  const double r = std::fabs(std::remainder(x, 2.0));
  return r <= 0.25 ? std::cos(kPi * r) : std::sin(kPi * (0.5 - r));
}

}  // namespace triton_openreg::special
