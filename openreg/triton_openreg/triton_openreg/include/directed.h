// Arithmetic with another rounding than to the nearest; see
// docs/modules/triton-compiler.md.
#pragma once

#include <cfenv>

namespace triton_openreg {

// Calls a function in a mode of the CPU. `volatile` keeps the compiler, which does not
// know of modes, from computing before or after.
template <int kMode, class Function, class... T>
auto rounded(const Function& function, T... args) {
  const int mode = std::fegetround();
  std::fesetround(kMode);
  volatile auto result = [&](volatile T... operands) {
    return function(static_cast<T>(operands)...);
  }(args...);
  std::fesetround(mode);
  return static_cast<decltype(function(args...))>(result);
}

}  // namespace triton_openreg

// Defines NAME_rn, NAME_rz, NAME_rd and NAME_ru of TYPE arguments.
#define OPENREG_ROUNDED(name, parameters, arguments, ...)                 \
  inline auto name##_rn parameters {                                      \
    return rounded<FE_TONEAREST>(__VA_ARGS__, OPENREG_UNPACK arguments);  \
  }                                                                       \
  inline auto name##_rz parameters {                                      \
    return rounded<FE_TOWARDZERO>(__VA_ARGS__, OPENREG_UNPACK arguments); \
  }                                                                       \
  inline auto name##_rd parameters {                                      \
    return rounded<FE_DOWNWARD>(__VA_ARGS__, OPENREG_UNPACK arguments);   \
  }                                                                       \
  inline auto name##_ru parameters {                                      \
    return rounded<FE_UPWARD>(__VA_ARGS__, OPENREG_UNPACK arguments);     \
  }
#define OPENREG_UNPACK(...) __VA_ARGS__
