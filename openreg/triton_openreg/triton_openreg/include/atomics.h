// Atomic operations; see docs/modules/triton-compiler.md.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "floats.h"

namespace triton_openreg {

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, uint64_t,
    std::conditional_t<sizeof(T) == 4, uint32_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

// All orders of memory are at least the one asked for.
template <class T>
T atomic_cas(T* pointer, T expected, T desired) {
  auto bits = std::bit_cast<BitsOf<T>>(expected);
  __atomic_compare_exchange_n(reinterpret_cast<BitsOf<T>*>(pointer), &bits,
                              std::bit_cast<BitsOf<T>>(desired), false,
                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return std::bit_cast<T>(bits);
}

// What no instruction does: tries until no other thread was in between.
template <class T, class Function>
T atomic_update(T* pointer, const Function& function) {
  auto* place = reinterpret_cast<BitsOf<T>*>(pointer);
  auto bits = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (true) {
    const T old = std::bit_cast<T>(bits);
    const auto changed = std::bit_cast<BitsOf<T>>(static_cast<T>(function(old)));
    if (__atomic_compare_exchange_n(place, &bits, changed, true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return old;
    }
  }
}

template <class T>
T atomic_exchange(T* pointer, T value) {
  auto* place = reinterpret_cast<BitsOf<T>*>(pointer);
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  return std::bit_cast<T>(__atomic_exchange_n(place, bits, __ATOMIC_ACQ_REL));
}

template <class T>
T atomic_add(T* pointer, T value) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(pointer, value, __ATOMIC_ACQ_REL);
  } else {
    return atomic_update(pointer, [=](T old) { return old + value; });
  }
}

template <class T>
T atomic_bit_and(T* pointer, T value) {
  return __atomic_fetch_and(pointer, value, __ATOMIC_ACQ_REL);
}
template <class T>
T atomic_bit_or(T* pointer, T value) {
  return __atomic_fetch_or(pointer, value, __ATOMIC_ACQ_REL);
}
template <class T>
T atomic_bit_xor(T* pointer, T value) {
  return __atomic_fetch_xor(pointer, value, __ATOMIC_ACQ_REL);
}

template <class T>
T atomic_max(T* pointer, T value) {
  return atomic_update(pointer, [=](T old) { return old > value ? old : value; });
}
template <class T>
T atomic_min(T* pointer, T value) {
  return atomic_update(pointer, [=](T old) { return old < value ? old : value; });
}
template <class T>
T atomic_unsigned_max(T* pointer, T value) {
  return atomic_update(pointer, [=](T old) {
    return to_unsigned(old) > to_unsigned(value) ? old : value;
  });
}
template <class T>
T atomic_unsigned_min(T* pointer, T value) {
  return atomic_update(pointer, [=](T old) {
    return to_unsigned(old) < to_unsigned(value) ? old : value;
  });
}

}  // namespace triton_openreg
