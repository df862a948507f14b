// Makes functions with out= of ATen's other functions; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>
#include <type_traits>

#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg::cpu {

// Copies each result to its output. ATen leaves out what was not requested, because of
// an output_mask, or has it all the same.
inline void copy_results(const at::Tensor& result, at::Tensor& out) {
  if (result.defined() && out.defined()) {
    out.copy_(result);
  }
}
template <class... Results, class... Outputs>
void copy_results(const std::tuple<Results...>& results, Outputs&... outputs) {
  std::apply([&](const auto&... result) { (copy_results(result, outputs), ...); },
             results);
}

// kFunction, such as at::grid_sampler_2d, as one that writes to outputs.
template <auto* kFunction, class Result>
struct OutVariant;
template <auto* kFunction, class... Args>
struct OutVariant<kFunction, at::Tensor (*)(Args...)> {
  static at::Tensor& call(Args... args, at::Tensor& out) {
    copy_results(kFunction(args...), out);
    return out;
  }
};
template <auto* kFunction, class... Args>
struct OutVariant<kFunction, std::tuple<at::Tensor, at::Tensor> (*)(Args...)> {
  static std::tuple<at::Tensor&, at::Tensor&> call(Args... args, at::Tensor& first,
                                                   at::Tensor& second) {
    copy_results(kFunction(args...), first, second);
    return {first, second};
  }
};
template <auto* kFunction, class... Args>
struct OutVariant<kFunction,
                  std::tuple<at::Tensor, at::Tensor, at::Tensor> (*)(Args...)> {
  static std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> call(Args... args,
                                                                at::Tensor& first,
                                                                at::Tensor& second,
                                                                at::Tensor& third) {
    copy_results(kFunction(args...), first, second, third);
    return {first, second, third};
  }
};
template <auto* kFunction>
constexpr auto* out_variant = &OutVariant<kFunction, decltype(kFunction)>::call;

// LITERALINCLUDE START: WITHOUT_WARNINGS
// kFunction as one that leaves warnings to the host half: the host warns on the call
// that causes it, device code could only warn later.
template <auto* kFunction, class Function = std::remove_pointer_t<decltype(kFunction)>>
struct WithoutWarnings;
template <auto* kFunction, class Result, class... Args>
struct WithoutWarnings<kFunction, Result(Args...)> {
  static Result call(Args... args) {
    const IgnoreWarnings ignored;
    return kFunction(args...);
  }
};
template <auto* kFunction>
constexpr auto* without_warnings = &WithoutWarnings<kFunction>::call;
// LITERALINCLUDE END: WITHOUT_WARNINGS

// Two functions of one operator, kOut, such as at::cpu::avg_pool3d_outf, and kFunction.
// CUDA has kernels for float16 and bfloat16 where the CPU has none. They are computed
// in float32, as CUDA does inside of its kernels.
template <auto* kFunction, auto* kOut>
struct ReducedInFloat;
template <class... Args, at::Tensor (*kFunction)(Args...), auto* kOut>
struct ReducedInFloat<kFunction, kOut> {
  static at::Tensor& call(Args... args, at::Tensor& out) {
    if (at::isReducedFloatingType(out.scalar_type())) {
      return out.copy_(kFunction(widened(args)...));
    }
    return kOut(args..., out);
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
template <auto* kFunction, auto* kOut>
constexpr auto* reduced_in_float = &ReducedInFloat<kFunction, kOut>::call;

// The in-place function where the output is the first argument, else the one with out=.
// ATen's functions with out= refuse a tensor that overlaps itself, and some of the
// in-place ones write to it, as CUDA's do.
template <auto* kOut, auto* kInplace>
struct InplaceOrOut;
template <auto* kOut, class... Args, at::Tensor& (*kInplace)(at::Tensor&, Args...)>
struct InplaceOrOut<kOut, kInplace> {
  static at::Tensor& call(const at::Tensor& self, Args... args, at::Tensor& out) {
    return self.is_same(out) ? kInplace(out, args...) : kOut(self, args..., out);
  }
};
template <auto* kOut, auto* kInplace>
constexpr auto* inplace_or_out = &InplaceOrOut<kOut, kInplace>::call;

}  // namespace openreg::cpu
