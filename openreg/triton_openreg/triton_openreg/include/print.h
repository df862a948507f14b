// `tl.device_print`; see docs/modules/triton-compiler.md.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <type_traits>

#include "kernel.h"

namespace triton_openreg {

inline void print_text(const Program& program, const char* text) {
  std::printf("pid (%d, %d, %d)%s\n", program.id[0], program.id[1], program.id[2],
              text);
}

template <class T>
void print(const Program& program, const char* prefix, std::initializer_list<int> place,
           T value, bool as_hex) {
  std::printf("pid (%d, %d, %d) idx (", program.id[0], program.id[1], program.id[2]);
  const char* comma = "";
  for (const int index : place) std::printf("%s%d", comma, index), comma = ", ";
  std::printf(")%s", prefix);
  if constexpr (std::is_pointer_v<T>) {
    std::printf("%p\n", static_cast<const void*>(value));
  } else if constexpr (!std::is_integral_v<T>) {
    std::printf("%f\n", static_cast<double>(value));
  } else if (as_hex) {
    std::printf("0x%0*llx\n", static_cast<int>(2 * sizeof(T)),
                static_cast<unsigned long long>(to_unsigned(value)));
  } else if constexpr (std::is_signed_v<T>) {
    std::printf("%lld\n", static_cast<long long>(value));
  } else {
    std::printf("%llu\n", static_cast<unsigned long long>(value));
  }
}

}  // namespace triton_openreg
