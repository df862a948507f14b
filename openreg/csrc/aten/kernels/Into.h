// Functions of the kernel library that return their results, as kernels that write to
// outputs; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace openreg {

// kFunction, such as at::grid_sampler_2d, as a kernel that writes to outputs, for
// launch_out. A result that was not requested is undefined, and left out.
template <auto* kFunction>
struct Into;
template <class... Args, at::Tensor (*kFunction)(Args...)>
struct Into<kFunction> {
  static at::Tensor& write(Args... args, at::Tensor& out) {
    return out.copy_(kFunction(args...));
  }
};
template <class... Args, std::tuple<at::Tensor, at::Tensor> (*kFunction)(Args...)>
struct Into<kFunction> {
  static std::tuple<at::Tensor&, at::Tensor&> write(Args... args, at::Tensor& first,
                                                    at::Tensor& second) {
    const auto [one, other] = kFunction(args...);
    if (one.defined()) {
      first.copy_(one);
    }
    if (other.defined()) {
      second.copy_(other);
    }
    return {first, second};
  }
};

// The same for two functions of one operator, kInPlace, such as
// at::cpu::avg_pool3d_outf, and kFunction: CUDA has kernels for float16 and bfloat16
// where the CPU has none. They are computed in float32, as CUDA does inside of its
// kernels.
template <auto* kFunction, auto* kInPlace>
struct InFloat;
template <class... Args, at::Tensor (*kFunction)(Args...), auto* kInPlace>
struct InFloat<kFunction, kInPlace> {
  static at::Tensor& write(Args... args, at::Tensor& out) {
    if (at::isReducedFloatingType(out.scalar_type())) {
      return out.copy_(kFunction(widened(args)...));
    }
    return kInPlace(args..., out);
  }

 private:
  template <class T>
  static decltype(auto) widened(const T& value) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      return at::isReducedFloatingType(value.scalar_type()) ? value.to(at::kFloat)
                                                            : value;
    } else {
      return (value);
    }
  }
};

}  // namespace openreg
