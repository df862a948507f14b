// Floating-point numbers of 16 and 8 bits, and conversions; see
// docs/modules/triton-compiler.md.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "integers.h"

namespace triton_openreg {

template <class T, class S>
T from_bits(S value) {
  if constexpr (std::is_pointer_v<T> && std::is_pointer_v<S>) {
    return reinterpret_cast<T>(value);
  } else if constexpr (sizeof(T) == sizeof(S)) {
    return std::bit_cast<T>(value);
  } else {  // a literal, which is wider
    using Bits = std::conditional_t<
        sizeof(T) == 8, uint64_t,
        std::conditional_t<sizeof(T) == 4, uint32_t,
                           std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
    return std::bit_cast<T>(static_cast<Bits>(value));
  }
}

// Rounds to the nearest number of fewer bits, to even if there are two. Without a
// branch, so that loops of it become vector instructions. `kInfinity` is the pattern of
// what is too large.
template <int kExponentBits, int kMantissaBits, uint32_t kInfinity, uint32_t kNan>
uint32_t round_bits(float value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr int kShift = 23 - kMantissaBits;
  constexpr uint32_t kSmallestNormal = (128 - kBias) << 23;
  // Adding this power of two leaves the bits of a subnormal result.
  constexpr uint32_t kMagic = (128 - kBias - kMantissaBits + 23) << 23;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t size = bits & 0x7FFFFFFF;
  const uint32_t odd = (size >> kShift) & 1;
  const uint32_t bias = static_cast<uint32_t>(127 - kBias) << 23;
  uint32_t normal = (size - bias + ((1u << (kShift - 1)) - 1) + odd) >> kShift;
  normal = normal > kInfinity ? kInfinity : normal;
  const float moved = std::bit_cast<float>(size) + std::bit_cast<float>(kMagic);
  const uint32_t subnormal = std::bit_cast<uint32_t>(moved) - kMagic;
  uint32_t rounded = size < kSmallestNormal ? subnormal : normal;
  rounded = size > 0x7F800000 ? kNan : rounded;
  return rounded | ((bits >> 31) << (kExponentBits + kMantissaBits));
}

// The reverse. `kSpecial` is the first pattern that is no number.
template <int kExponentBits, int kMantissaBits, uint32_t kSpecial>
float widen_bits(uint32_t bits) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  constexpr auto kScale = std::bit_cast<float>((127u + 127 - kBias) << 23);
  const uint32_t size = (bits & (kSign - 1)) << (23 - kMantissaBits);
  const auto number = std::bit_cast<uint32_t>(std::bit_cast<float>(size) * kScale);
  const uint32_t wide = (bits & (kSign - 1)) >= kSpecial ? size | 0x7F800000 : number;
  return std::bit_cast<float>(wide | ((bits & kSign) != 0 ? 0x80000000 : 0));
}

// Each has its bits, and is a float otherwise.
struct half {
  uint16_t bits;
  half() = default;
  explicit half(float value) : bits(round_bits<5, 10, 0x7C00, 0x7E00>(value)) {}
  operator float() const { return widen_bits<5, 10, 0x7C00>(bits); }
};

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16;
    bits = (wide & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC0 : rounded;
  }
  operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct float8e5 {  // as a half without its last byte
  uint8_t bits;
  float8e5() = default;
  explicit float8e5(float value) : bits(round_bits<5, 2, 0x7C, 0x7F>(value)) {}
  operator float() const { return widen_bits<5, 2, 0x7C>(bits); }
};

struct float8e4nv {  // without infinities: the largest number stands for more
  uint8_t bits;
  float8e4nv() = default;
  explicit float8e4nv(float value) : bits(round_bits<4, 3, 0x7E, 0x7F>(value)) {}
  operator float() const { return widen_bits<4, 3, 0x7F>(bits); }
};

template <class T>
concept Small = std::is_same_v<T, half> || std::is_same_v<T, bfloat16> ||
                std::is_same_v<T, float8e5> || std::is_same_v<T, float8e4nv>;

// Arithmetic of small numbers happens in float, and rounds after each operation.
template <Small T>
T operator+(T a, T b) {
  return T(float(a) + float(b));
}
template <Small T>
T operator-(T a, T b) {
  return T(float(a) - float(b));
}
template <Small T>
T operator*(T a, T b) {
  return T(float(a) * float(b));
}
template <Small T>
T operator/(T a, T b) {
  return T(float(a) / float(b));
}
template <Small T>
T operator-(T a) {
  return T(-float(a));
}

// A double that is rounded twice would be wrong at ties: this float has a last bit that
// says whether anything was cut off.
inline float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (nearest != value && value == value) {
    bits -= __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value);
    bits |= 1;
  }
  return std::bit_cast<float>(bits);
}

template <class T, class S>
T convert(S value) {
  if constexpr (Small<T> && std::is_same_v<S, double>) {
    return T(round_to_odd(value));
  } else if constexpr (Small<T> || Small<S>) {
    return T(float(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T, class S>
T convert_toward_zero(S value) {
  T rounded = convert<T>(value);
  const bool larger =
      __builtin_fabs(double(float(rounded))) > __builtin_fabs(double(value));
  rounded.bits -= larger;  // the next pattern toward zero
  return rounded;
}

// Integers to numbers: wide ones by a double, which has all their bits, or rounds once.
template <class T, class S>
T float_from(S value) {
  if constexpr (Small<T> && sizeof(S) > 2) {
    return convert<T>(static_cast<double>(value));
  } else if constexpr (Small<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Numbers to integers: the nearest integer that there is, and 0 for a NaN.
template <class T, class S>
T saturate(S value) {
  constexpr S kMax = sizeof(T) == 8 ? S(std::is_signed_v<T> ? 0x1p63 : 0x1p64)
                                    : S(std::is_signed_v<T> ? 0x1p31 : 0x1p32);
  constexpr S kMin = std::is_signed_v<T> ? -kMax : S(0);
  const bool large = value >= kMax, small = value <= kMin;
  const auto inside = static_cast<T>(large | small | (value != value) ? S(0) : value);
  const T edge = small ? std::numeric_limits<T>::min() : inside;
  return large ? std::numeric_limits<T>::max() : edge;
}

// Through an integer of 32 or 64 bits, which holds what fits of the value.
template <class Narrow, class Wide, class T, class S>
T through(S value) {
  using Integer = std::conditional_t<sizeof(T) == 8, Wide, Narrow>;
  if constexpr (Small<S>) {
    return truncate<T>(saturate<Integer>(float(value)));
  } else {
    return truncate<T>(saturate<Integer>(value));
  }
}

template <class T, class S>
T integer_from(S value) {
  return through<int32_t, int64_t, T>(value);
}

template <class T, class S>
T unsigned_from(S value) {
  return through<uint32_t, uint64_t, T>(value);
}

// A NaN loses against a number, or wins.
template <class T>
T max_number(T a, T b) {
  return a > b || b != b ? a : b;
}
template <class T>
T min_number(T a, T b) {
  return a < b || b != b ? a : b;
}
template <class T>
T max_or_nan(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T min_or_nan(T a, T b) {
  return a < b || a != a ? a : b;
}

}  // namespace triton_openreg
