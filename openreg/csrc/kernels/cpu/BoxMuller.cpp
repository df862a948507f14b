// Random words to normally distributed numbers; see docs/runtime/random-kernels.md.
#include "csrc/kernels/cpu/BoxMuller.h"

#include <c10/util/MathConstants.h>

#include <bit>
#include <cmath>

namespace openreg::cpu {
namespace {

// The polynomials are those of Cephes (Moshier), to one unit in the last place. Unlike
// the functions of the C library, the compiler can turn them into vector code, and they
// give the same bits on every machine: build.cmake forbids to fuse their operations.

// For 0 < x <= 1.
inline float fast_log(float x) {
  // x = (1 + f) * 2^exponent, with 1 + f between sqrt(0.5) and sqrt(2).
  const auto bits = std::bit_cast<int32_t>(x);
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float f = std::bit_cast<float>(bits - (exponent << 23)) - 1;
  float y = 7.0376836292e-2f;
  y = y * f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  return (y * f - 0.5f) * f * f + f + static_cast<float>(exponent) * 0.693147181f;
}

// A whole word as a number in (0, 1]; the halves are converted as signed integers, for
// which there is a vector instruction.
inline float positive_unit_of(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 16)) * 0x1p-16f +
         static_cast<float>(static_cast<int32_t>(word & 0xffff)) * 0x1p-32f + 0x1p-33f;
}

}  // namespace

// Box and Muller (1958): a uniform radius and a uniform angle give two numbers.
void box_muller(const uint32_t* words, int64_t count, float* values) {
  for (int64_t i = 0; i < count; i += 2) {
    const float radius = std::sqrt(-2 * fast_log(positive_unit_of(words[i])));
    // Two bits choose the quarter of the circle, the others the place in it, between
    // -pi/4 and pi/4.
    const uint32_t turn = words[i + 1];
    const auto place = static_cast<int32_t>(turn & 0x3fffffff) - 0x20000000;
    const float x = static_cast<float>(place) * (c10::pi<float> / 2 * 0x1p-30f);
    const float z = x * x;
    const float sine =
        ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
    const float cosine =
        ((2.4433157118e-5f * z - 1.3887316255e-3f) * z + 4.1666645683e-2f) * z * z -
        0.5f * z + 1;
    // A quarter turn makes -sine of cosine and cosine of sine; half a turn changes both
    // signs. Without branches, which no vector code can have.
    const uint32_t swap = 0 - (turn >> 30 & 1);
    const uint32_t half_turn = turn & 0x80000000;
    const auto c = std::bit_cast<uint32_t>(cosine);
    const auto s = std::bit_cast<uint32_t>(sine);
    const uint32_t first = (swap & (s ^ 0x80000000)) | (~swap & c);
    const uint32_t second = (swap & c) | (~swap & s);
    values[i] = radius * std::bit_cast<float>(first ^ half_turn);
    values[i + 1] = radius * std::bit_cast<float>(second ^ half_turn);
  }
}

void box_muller(const uint32_t* words, int64_t count, double* values) {
  for (int64_t i = 0; i < count; i += 2, words += 4) {
    const double radius = std::sqrt(-2 * std::log(positive_unit<double>(words)));
    const double angle = 2 * c10::pi<double> * unit<double, double>(words + 2);
    values[i] = radius * std::cos(angle);
    values[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace openreg::cpu
