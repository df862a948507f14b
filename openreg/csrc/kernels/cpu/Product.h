// Products of matrices in the precision of their launch; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>
#include <type_traits>

#include "csrc/kernels/cpu/LaunchState.h"

namespace openreg::cpu {

// Inside a kernel: float32 values for a computation in float64, which no setting of the
// process makes less precise. Factors are first rounded to the precision of the launch.
inline at::Tensor to_double(const at::Tensor& tensor, bool is_factor) {
  if (!tensor.defined() || tensor.scalar_type() != at::kFloat) {
    return tensor;
  }
  const bool round = is_factor && LaunchState::of_kernel().rounds_to_bfloat16();
  return (round ? tensor.to(at::kBFloat16) : tensor).to(at::kDouble);
}

template <auto* kFunction, class Function>
struct Product;

// ATen's kernels read the precision of float32 products from the process, when they
// run. This reads the precision of the launch: if another one is set now, it computes
// in float64. The last two tensors among the inputs are the factors.
template <auto* kFunction, class... Args>
struct Product<kFunction, at::Tensor&(Args...)> {
  static constexpr size_t kTensors =
      (std::is_same_v<std::remove_cvref_t<Args>, at::Tensor> + ...) - 1;

  // LITERALINCLUDE START: PRODUCT
  static at::Tensor& call(Args... args) {
    if (!LaunchState::of_kernel().precision_changed()) {
      return kFunction(args...);
    }
    at::Tensor& out = std::get<sizeof...(Args) - 1>(std::tie(args...));
    at::Tensor precise_out = to_double(out, false);
    size_t position = 0;
    const auto convert = [&]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, at::Tensor>) {
        const bool is_factor = ++position + 2 > kTensors;
        return value.is_same(out) ? precise_out : to_double(value, is_factor);
      } else {
        return value;
      }
    };
    std::tuple precise{convert(args)...};  // in the order of the arguments
    std::get<sizeof...(Args) - 1>(precise) = precise_out;
    std::apply([](auto&... each) { kFunction(each...); }, precise);
    return out.copy_(precise_out);
  }
  // LITERALINCLUDE END: PRODUCT
};

template <auto* kFunction>
constexpr auto* product =
    &Product<kFunction, std::remove_pointer_t<decltype(kFunction)>>::call;

}  // namespace openreg::cpu
