// A function of the kernel library with its arguments, ready for a stream; see
// docs/operators/structured.md.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "csrc/aten/kernels/KernelDtypes.h"
#include "csrc/aten/launch/ArgumentFacts.h"
#include "csrc/aten/launch/Arguments.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/structured/Signature.h"
#include "csrc/aten/structured/StructuredOutput.h"

namespace openreg {

// What is known of a function of the kernel library before it is called.
class KernelInfo {
 public:
  // `name`: "mul"; `op`: "mul.Tensor". Both outlive this.
  KernelInfo(const char* name, const char* op, Reads reads);

  // Throws if the kernel library has no kernel for the dtypes, or cannot convert a
  // number to them. `compute` is the common dtype that TensorIterator found, or
  // Undefined. Returns the dtype to which the kernel has to convert its inputs, or
  // Undefined.
  at::ScalarType check(at::ScalarType compute, const at::Tensor& out,
                       const ArgumentFacts& facts) const;

  // Throws if the kernel would overwrite what it has yet to read. In place, the first
  // argument is the output.
  void check_overlaps(Form form, const at::Tensor& out,
                      const ArgumentFacts& facts) const;

  const char* name;
  const char* op;
  Reads reads;

 private:
  const KernelDtypes& dtypes_for(std::string_view text) const;

  const KernelDtypes* dtypes_;  // null if they depend on a text among the arguments
};

// Such a function: at::cpu::mul_outf.
template <class Function>
struct Kernel : KernelInfo {
  Function* function;

  Kernel(const char* name, const char* op, Function* function,
         Reads reads = Reads::Nothing)
      : KernelInfo(name, op, reads), function(function) {}
};

bool has_elements(at::ArrayRef<at::Tensor> tensors);  // any of them

template <class Arguments, class Outputs>
class KernelCall;

// LITERALINCLUDE START: KERNEL_CALL
// One class for all operators that take `Args` and write sizeof...(I) tensors.
template <class... Args, size_t... I>
class KernelCall<std::tuple<Args...>, std::index_sequence<I...>> {
 public:
  using Outputs = std::array<at::Tensor, sizeof...(I)>;
  // The type of at::cpu::mul_outf and its like.
  using Function = typename OutResult<std::index_sequence<I...>>::type(
      Args..., OutputReference<I>...);

  // `inputs`: the dtype to which the inputs are converted, if not Undefined.
  KernelCall(Function* function, Form form, at::ScalarType inputs,
             const Outputs& outputs, const Args&... args)
      : function_(function),
        form_(form),
        inputs_(inputs),
        outputs_{KernelTensorArg(outputs[I])...},
        arguments_(ArgumentOf<Args>::capture(args)...) {}
  // LITERALINCLUDE END: KERNEL_CALL

  // LITERALINCLUDE START: KERNEL_CALL_RUN
  // On the device.
  void operator()() const {
    Outputs outputs{outputs_[I].alias()...};
    std::apply(
        [&](const auto&... captured) {
          call(outputs, std::tuple(convert(ArgumentOf<Args>::alias(captured))...));
        },
        arguments_);
  }
  // LITERALINCLUDE END: KERNEL_CALL_RUN

 private:
  template <class Value>
  decltype(auto) convert(Value&& value) const {
    if constexpr (std::is_same_v<Value, at::Tensor>) {
      return inputs_ == at::ScalarType::Undefined ? std::move(value)
                                                  : value.to(inputs_);
    } else {
      return std::forward<Value>(value);
    }
  }

  // LITERALINCLUDE START: KERNEL_CALL_INPLACE
  template <class Values>
  void call(Outputs& outputs, Values values) const {
    if constexpr (std::is_same_v<std::tuple_element_t<0, Values>, at::Tensor>) {
      if (form_ == Form::Inplace) {
        std::get<0>(values) = outputs[0];  // one tensor, not two over the same memory
      }
    }
    std::apply([&](auto&... value) { function_(value..., outputs[I]...); }, values);
  }
  // LITERALINCLUDE END: KERNEL_CALL_INPLACE

  Function* function_;
  Form form_;
  at::ScalarType inputs_;
  std::array<KernelTensorArg, sizeof...(I)>
      outputs_;  // first: one may be an argument too
  std::tuple<decltype(ArgumentOf<Args>::capture(std::declval<Args>()))...> arguments_;
};

// LITERALINCLUDE START: RUN
// Checks the dtypes and enqueues the kernel, unless it has nothing to write. `compute`
// is the common dtype that TensorIterator found, or Undefined.
template <class Call, class... Args>
void run(const Kernel<typename Call::Function>& kernel, Form form,
         at::ScalarType compute, const typename Call::Outputs& outputs,
         const ArgumentFacts& facts, const Args&... args) {
  const at::ScalarType inputs = kernel.check(compute, outputs[0], facts);  // (1)
  if (has_elements(outputs)) {
    launch_new<Call>(kernel.name, outputs[0].device(), kernel.reads, kernel.function,
                     form, inputs, outputs, args...);  // (2)
  }
}
// LITERALINCLUDE END: RUN

}  // namespace openreg
