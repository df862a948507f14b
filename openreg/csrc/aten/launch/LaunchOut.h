// Launches an operator of ATen through its out= form, into outputs that the caller
// made; see docs/operators/structured.md.
#pragma once

#include "csrc/aten/launch/KernelCall.h"

namespace openreg {

template <class Function>
constexpr size_t kParameters = 0;
template <class Result, class... Parameters>
constexpr size_t kParameters<Result (*)(Parameters...)> = sizeof...(Parameters);

// The types of the first parameters of a function, without its outputs.
template <class Indices, class All>
struct Select;
template <size_t... I, class All>
struct Select<std::index_sequence<I...>, All> {
  using type = std::tuple<std::tuple_element_t<I, All>...>;
};

template <class Call, class... Args>
void run_as(std::tuple<Args...>*, const Kernel<typename Call::Function>& kernel,
            at::ScalarType compute, const typename Call::Outputs& outputs,
            const std::remove_cvref_t<Args>&... args) {
  run<Call>(kernel, Form::Out, compute, outputs, facts_of(args...), args...);
}

// Enqueues `function` of the kernel library for outputs that the caller made. `op`: its
// entry in the table of dtypes. `compute`: the common dtype of a TensorIterator, or
// Undefined.
template <class Result, class... Parameters, size_t kOutputs, class... Args>
void launch_out_as(const char* name, const char* op, at::ScalarType compute,
                   Result (*function)(Parameters...),
                   const std::array<at::Tensor, kOutputs>& outputs,
                   const Args&... args) {
  using Inputs =
      typename Select<std::make_index_sequence<sizeof...(Parameters) - kOutputs>,
                      std::tuple<Parameters...>>::type;
  using Call = KernelCall<Inputs, std::make_index_sequence<kOutputs>>;
  const Kernel<typename Call::Function> kernel(name, op, function);
  run_as<Call>(static_cast<Inputs*>(nullptr), kernel, compute, outputs, args...);
}

// For operators without a structured meta function. The caller has checked the
// arguments, is on their device, and made `outputs` with the sizes and the dtypes that
// `function`, such as at::native_layer_norm_outf, will write.
template <class Result, class... Parameters, size_t kOutputs, class... Args>
void launch_out(const char* name, Result (*function)(Parameters...),
                const std::array<at::Tensor, kOutputs>& outputs, const Args&... args) {
  launch_out_as(name, name, at::ScalarType::Undefined, function, outputs, args...);
}

}  // namespace openreg
