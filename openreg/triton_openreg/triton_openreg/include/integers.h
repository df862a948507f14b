// Integers as Triton defines them, where C++ leaves them undefined; see
// docs/modules/triton-compiler.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace triton_openreg {

template <class T>
constexpr auto to_unsigned(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<uint8_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

// One bit is -1 or 0 as a signed number.
template <class T, class S>
constexpr T sign_extend(S value) {
  if constexpr (std::is_same_v<S, bool>) {
    return static_cast<T>(value ? -1 : 0);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
constexpr auto as_signed(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return sign_extend<int8_t>(value);
  } else {
    return value;
  }
}

template <class T, class S>
constexpr T truncate(S value) {
  if constexpr (std::is_same_v<T, bool>) {
    return (value & 1) != 0;
  } else {
    return static_cast<T>(value);
  }
}

// A division by zero, and that of the smallest number by -1, stop a CPU: here they have
// results, as on GPUs.
template <std::integral T>
constexpr T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == static_cast<T>(-1)) return static_cast<T>(0 - a);
  }
  return static_cast<T>(a / b);
}

template <std::integral T>
constexpr T remainder_of(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == static_cast<T>(-1)) return 0;
  }
  return static_cast<T>(a % b);
}

template <std::integral T>
constexpr T floor_divide(T a, T b) {
  const T quotient = divide(a, b);
  const bool inexact = remainder_of(a, b) != 0;
  return static_cast<T>(quotient - (inexact && (a < 0) != (b < 0)));
}

// A shift by the width or more moves all bits out.
template <std::integral T, std::integral S>
constexpr T shift_left(T value, S by) {
  const bool inside = to_unsigned(by) < 8 * sizeof(T);
  const auto bits = to_unsigned(value);
  return static_cast<T>(inside ? bits << (by & (8 * sizeof(T) - 1)) : 0);
}

template <std::integral T, std::integral S>
constexpr T shift_right(T value, S by) {
  constexpr int kLast = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>) {
    const bool inside = to_unsigned(by) <= kLast;
    return static_cast<T>(value >> (inside ? static_cast<int>(by) : kLast));
  } else {
    const bool inside = to_unsigned(by) <= kLast;
    return static_cast<T>(inside ? value >> (by & kLast) : 0);
  }
}

template <std::unsigned_integral T>
constexpr auto multiply_high(T a, T b) {
  using Double = std::conditional_t<sizeof(T) == 8, unsigned __int128, uint64_t>;
  const Double product = static_cast<Double>(a) * b;
  return static_cast<std::make_signed_t<T>>(product >> (8 * sizeof(T)));
}

template <std::integral T>
T popcount_(T value) {
  return static_cast<T>(__builtin_popcountll(to_unsigned(value)));
}

}  // namespace triton_openreg
