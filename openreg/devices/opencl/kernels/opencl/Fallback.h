// Operators whose kernels do not take every dtype or layout: for the rest they fall
// back to the CPU, are counted, and obey the fallback mode; see docs/opencl/kernels.md.
//
//   bool negate(at::TensorIteratorBase& iterator) {     // if the meta is a
//   TensorIterator
//     return pointwise(iterator, {"-a"});               // false: nothing was enqueued
//   }
//   bool bmm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out) { // else
//     if (!supports({a, b, out})) return false;
//     ...launch...; return true;
//   }
//   structured_or_fall_back<op::neg, op::neg_out, meta::structured_neg>(m, negate);
//   structured_or_fall_back<op::bmm, op::bmm_out, meta::structured_bmm>(m, bmm);
//
// In any other function of an operator: `return fall_back<op::relu>(self);`.
#pragma once

#include <ATen/native/CPUFallback.h>

#include <tuple>
#include <utility>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/aten/structured/Structured.h"

namespace ocl::opencl {

// Calls operator `Op` with all of its arguments on the CPU. Outputs come last, as in
// C++.
template <class Op, class... Args>
decltype(auto) fall_back(Args&&... args) {
  return at::native::call_fallback_fn<&cpu_fallback, Op>::call(
      std::forward<Args>(args)...);
}

// Calls the CPU with arguments that are given, and puts the results into the outputs.
// `Out` is the form with out=, or void if there is none.
template <class Op, class Out, class... Args, class... Outputs>
void fall_back_into(const std::tuple<Args...>& args, Outputs&... outputs) {
  std::apply(
      [&](const auto&... each) {
        if constexpr (!std::is_void_v<Out>) {
          fall_back<Out>(each..., outputs...);
        } else if constexpr (sizeof...(Outputs) == 1) {
          (outputs.copy_(fall_back<Op>(each...)), ...);
        } else {
          const auto copy = [](const at::Tensor& output, const at::Tensor& result) {
            if (output.defined()) {  // the caller wants this one
              output.copy_(result);
            }
          };
          const auto results = fall_back<Op>(each...);
          std::apply([&](const auto&... result) { (copy(outputs, result), ...); },
                     results);
        }
      },
      args);
}

// LITERALINCLUDE START: WITH_ARGUMENTS
// ATen's meta function, which keeps where the arguments are while the kernel runs: a
// kernel that gets an iterator cannot know their order.
template <class Meta, class Arguments>
struct WithArguments;
template <class Meta, class... Args>
struct WithArguments<Meta, std::tuple<Args...>> : Meta {
  std::tuple<const std::remove_cvref_t<Args>*...> arguments;

  void meta(const std::remove_cvref_t<Args>&... args) {
    arguments = {&args...};
    if constexpr (requires(Meta& self) { self.meta(args...); }) {
      Meta::meta(args...);
    } else {
      Meta::meta(meta_argument(args)...);
    }
  }
};
// LITERALINCLUDE END: WITH_ARGUMENTS

template <class Op, class Out, class Meta, class Kernel>
struct IteratorOrFallBack {
  Kernel kernel;

  template <class... Numbers>
  void operator()(at::TensorIteratorBase& iterator, const Numbers&... numbers) const {
    if (!kernel(iterator, numbers...)) {
      at::Tensor out = iterator.output();
      std::apply(
          [&](const auto*... args) {
            fall_back_into<Op, Out>(std::tie(*args...), out);
          },
          static_cast<Meta&>(iterator).arguments);
    }
  }
};

template <class Op, class Out, class Kernel, class Arguments, class Outputs>
struct KernelOrFallBack;
template <class Op, class Out, class Kernel, class... Args, size_t... I>
struct KernelOrFallBack<Op, Out, Kernel, std::tuple<Args...>,
                        std::index_sequence<I...>> {
  Kernel kernel;

  void operator()(const std::remove_cvref_t<Args>&... args,
                  OutputReference<I>... outputs) const {
    if (!kernel(args..., outputs...)) {
      fall_back_into<Op, Out>(std::tie(args...), outputs...);
    }
  }
};

template <class Op, class Out, class Meta, class Kernel>
auto or_fall_back(Kernel kernel) {
  using Arguments = typename SignatureOf<Op>::Arguments;
  if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) {
    return IteratorOrFallBack<Op, Out, WithArguments<Meta, Arguments>, Kernel>{kernel};
  } else {
    using Outputs = typename SignatureOf<Op>::Outputs;
    return KernelOrFallBack<Op, Out, Kernel, Arguments, Outputs>{kernel};
  }
}

template <class Op, class Meta>
using MetaOf =
    std::conditional_t<std::is_base_of_v<at::TensorIteratorBase, Meta>,
                       WithArguments<Meta, typename SignatureOf<Op>::Arguments>, Meta>;

// As structured() and structured_without_out(), for a kernel that returns whether it
// took the call. It must not enqueue anything and return false.
template <class Op, class Out, class Meta, class Kernel>
void structured_or_fall_back(torch::Library& m, Kernel kernel) {
  structured<Op, Out, MetaOf<Op, Meta>>(m, or_fall_back<Op, Out, Meta>(kernel));
}
template <class Op, class Meta, class Kernel>
void structured_or_fall_back_without_out(torch::Library& m, Kernel kernel) {
  structured_without_out<Op, MetaOf<Op, Meta>>(m, or_fall_back<Op, void, Meta>(kernel));
}

}  // namespace ocl::opencl
