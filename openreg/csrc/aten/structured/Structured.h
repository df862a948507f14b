// Turns a structured operator of ATen into three operators of the device; see
// docs/operators/structured.md.
#pragma once

#include <ATen/TensorIterator.h>
#include <torch/library.h>

#include "csrc/aten/launch/KernelCall.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {

// LITERALINCLUDE START: META
// ATen's meta function of an operator; it asks for the outputs.
template <class Meta, size_t kOutputs>
struct StructuredMeta final : Meta {
  Form form;
  std::array<at::Tensor, kOutputs>& outputs;  // undefined until they are made

  StructuredMeta(Form form, std::array<at::Tensor, kOutputs>& outputs)
      : form(form), outputs(outputs) {}

  const at::Tensor& maybe_get_output(int64_t index) override { return outputs[index]; }

  void set_output_raw_strided(int64_t index, at::IntArrayRef sizes,
                              at::IntArrayRef strides,
                              at::TensorOptions options) override {
    set_output(outputs[index], form, sizes, strides, options);
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) {
      Meta::set_output_raw_strided(index, sizes, strides, options);
    }
  }

  // Asked for by kernels that write one layout only. ATen's CPU kernel, which runs
  // later, goes through a temporary where a caller's tensor has another layout.
  void set_output_strided(int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    set_output_raw_strided(index, sizes, strides, options);
  }
};
// LITERALINCLUDE END: META

// The device of the first of the `tensors` that is on one. If `all`, throws what torch
// throws unless all are there; else numbers may come from the CPU, and TensorIterator
// checks the rest.
DeviceIndex device_of(const char* name, bool all,
                      at::ArrayRef<const at::Tensor*> tensors);
DeviceIndex device_of(const char* name, bool all, at::ArrayRef<at::Tensor> outputs,
                      const ArgumentFacts& facts);

// int64_t for SymInt: kernels see sizes as they are.
template <class T>
struct Concrete {
  using type = T;
};
template <>
struct Concrete<c10::SymInt> {
  using type = int64_t;
};
template <>
struct Concrete<c10::SymIntArrayRef> {
  using type = at::IntArrayRef;
};
template <>
struct Concrete<at::OptionalSymIntArrayRef> {
  using type = at::OptionalIntArrayRef;
};
template <>
struct Concrete<std::optional<c10::SymInt>> {
  using type = std::optional<int64_t>;
};

template <class Result>
constexpr size_t kOutputsOf = 1;
template <class... Results>
constexpr size_t kOutputsOf<std::tuple<Results...>> = sizeof...(Results);

// What follows from the functional form of an operator, `schema` of
// at::_ops::mul_Tensor.
template <class Schema>
struct OpSignature;
template <class Result, class... Args>
struct OpSignature<Result(Args...)> {
  using Arguments = std::tuple<typename Concrete<Args>::type...>;
  using Outputs = std::make_index_sequence<kOutputsOf<Result>>;
  using Call = KernelCall<Arguments, Outputs>;
};

template <class Op>
using SignatureOf = OpSignature<typename Op::schema>;

template <class Arguments, class Outputs>
struct StructuredOp;

// The in-place form of an operator.
template <class Arguments>
struct InplaceForm;
template <class Self, class... Args>
struct InplaceForm<std::tuple<Self, Args...>> {
  template <class Operator>
  static auto of(const Operator* op) {
    return [op](at::Tensor& self, Args... args) -> at::Tensor& {
      op->compute(Form::Inplace, {self}, self, args...);
      return self;
    };
  }
};

// "mul_.Tensor" of "mul" and "Tensor"; null if torch has no such operator.
const char* inplace_overload(const char* name, const char* overload_name);

template <size_t>
using OutputValue = at::Tensor;

// LITERALINCLUDE START: FORMS
// An operator in all its forms, which differ in the outputs that they start with. One
// class for all operators of a signature.
template <class... Args, size_t... I>
struct StructuredOp<std::tuple<Args...>, std::index_sequence<I...>> {
  using Call = KernelCall<std::tuple<Args...>, std::index_sequence<I...>>;
  using Outputs = typename Call::Outputs;
  using Reference = typename OutResult<std::index_sequence<I...>>::type;

  Kernel<typename Call::Function> kernel;
  bool all_on_device;  // if not, TensorIterator checks the devices and the overlaps
  // Checks the arguments, makes the outputs, and returns the dtype of the computation.
  at::ScalarType (*infer)(Form, Outputs&, const ArgumentFacts&, const Args&...);

  Outputs compute(Form form, Outputs outputs, const Args&... args) const {
    const ArgumentFacts facts = facts_of(args...);
    const OpenRegGuard scope(device_of(kernel.name, all_on_device, outputs, facts));
    const at::ScalarType dtype = infer(form, outputs, facts, args...);  // (1)
    if (all_on_device && form != Form::Functional) {
      (kernel.check_overlaps(form, outputs[I], facts), ...);
    }
    run<Call>(kernel, form, dtype, outputs, facts, args...);  // (2)
    return outputs;
  }
  // LITERALINCLUDE END: FORMS

  static constexpr bool kMayBeInplace =
      sizeof...(I) == 1 &&
      std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>, const at::Tensor&>;
  using Result =
      std::conditional_t<sizeof...(I) == 1, at::Tensor, std::tuple<OutputValue<I>...>>;

  // Registers the functional form, the in-place form if torch has one, and the form
  // with out= if `out`, its overload name, is not null. This object outlives `m`.
  void impl(torch::Library& m, const char* overload_name, const char* out) const {
    m.impl(kernel.op, [this](Args... args) -> Result {
      Outputs outputs = compute(Form::Functional, {}, args...);
      return Result(std::move(outputs[I])...);
    });
    if (out != nullptr) {
      m.impl(overload(kernel.name, out),
             [this](Args... args, OutputReference<I>... outputs) -> Reference {
               compute(Form::Out, {outputs...}, args...);
               return {outputs...};
             });
    }
    if constexpr (kMayBeInplace) {
      const char* inplace = inplace_overload(kernel.name, overload_name);
      if (inplace != nullptr) {
        m.impl(inplace, InplaceForm<std::tuple<Args...>>::of(this));
      }
    }
  }
};

// The one part that each operator has for itself.
template <class Meta, class Arguments, class Outputs>
struct Infer;
template <class Meta, class... Args, size_t... I>
struct Infer<Meta, std::tuple<Args...>, std::index_sequence<I...>> {
  static at::ScalarType run(Form form, std::array<at::Tensor, sizeof...(I)>& outputs,
                            const ArgumentFacts&, const Args&... args) {
    StructuredMeta<Meta, sizeof...(I)> op(form, outputs);
    op.meta(ArgumentOf<Args>::for_meta(args)...);
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) {
      return op.maybe_common_dtype().value_or(at::ScalarType::Undefined);
    }
    return at::ScalarType::Undefined;
  }
};

template <class Op>
using StructuredOpOf = StructuredOp<typename SignatureOf<Op>::Arguments,
                                    typename SignatureOf<Op>::Outputs>;

template <class Op, class Meta, typename StructuredOpOf<Op>::Call::Function* kKernel>
const StructuredOpOf<Op>& structured_op(Reads reads = Reads::Nothing) {
  static const StructuredOpOf<Op> op{
      {kNameOf<Op>, overload(kNameOf<Op>, Op::overload_name), kKernel, reads},
      /*all_on_device=*/!std::is_base_of_v<at::TensorIteratorBase, Meta>,
      &Infer<Meta, typename SignatureOf<Op>::Arguments,
             typename SignatureOf<Op>::Outputs>::run};
  return op;
}

// LITERALINCLUDE START: STRUCTURED
// Registers what ATen calls one structured operator: its functional form `Op`, its form
// with out= `Out`, and its in-place form if there is one. The types say what belongs
// together: a kernel of another signature does not compile.
template <class Op, class Out, class Meta,
          typename StructuredOpOf<Op>::Call::Function* kKernel>
void structured(torch::Library& m, Reads reads = Reads::Nothing) {
  structured_op<Op, Meta, kKernel>(reads).impl(m, Op::overload_name,
                                               Out::overload_name);
}
// LITERALINCLUDE END: STRUCTURED

}  // namespace openreg
