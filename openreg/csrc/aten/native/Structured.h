// Turns a structured operator of ATen into three operators of the device; see
// docs/operators/structured.md.
#pragma once

#include <ATen/TensorIterator.h>
#include <torch/library.h>

#include "csrc/aten/native/KernelCall.h"
#include "csrc/runtime/OpenRegFunctions.h"

namespace openreg {

// LITERALINCLUDE START: META
// ATen's meta function of an operator, and the outputs that it asks for.
template <class Meta, size_t kOutputs>
struct StructuredMeta final : Meta {
  Form form;
  std::array<at::Tensor, kOutputs> outputs;  // undefined until they are made

  StructuredMeta(Form form, std::array<at::Tensor, kOutputs> outputs)
      : form(form), outputs(std::move(outputs)) {}

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
OPENREG_EXPORT DeviceIndex device_of(const char* name, bool all,
                                     at::ArrayRef<const at::Tensor*> tensors);

template <bool kAll, class Outputs, class... Args>
DeviceIndex common_device(const char* name, const Outputs& outputs,
                          const Args&... args) {
  c10::SmallVector<const at::Tensor*, 6> tensors;
  const auto collect = [&](const at::Tensor& tensor) { tensors.push_back(&tensor); };
  for (const at::Tensor& output : outputs) {
    collect(output);
  }
  (for_each_tensor(args, collect), ...);
  return device_of(name, kAll, tensors);
}

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
struct Signature;
template <class Result, class... Args>
struct Signature<Result(Args...)> {
  using Functional = Result;
  using Arguments = std::tuple<typename Concrete<Args>::type...>;
  using Outputs = std::make_index_sequence<kOutputsOf<Result>>;
  using Call = KernelCall<Arguments, Outputs>;
  static constexpr bool kMayBeInplace =
      kOutputsOf<Result> == 1 &&
      std::is_same_v<std::tuple_element_t<0, Arguments>, const at::Tensor&>;
};

template <class Op>
using SignatureOf = Signature<typename Op::schema>;

template <class Op, class Meta, auto* kKernel, class Arguments, class Outputs>
struct Forms;

// LITERALINCLUDE START: FORMS
// The forms of one operator. They differ in the outputs that they start with.
template <class Op, class Meta, auto* kKernel, class... Args, size_t... I>
struct Forms<Op, Meta, kKernel, std::tuple<Args...>, std::index_sequence<I...>> {
  using Call = typename SignatureOf<Op>::Call;
  using Result = typename SignatureOf<Op>::Functional;
  static constexpr bool kIsIterator = std::is_base_of_v<at::TensorIteratorBase, Meta>;

  static typename Call::Outputs compute(Form form, typename Call::Outputs outputs,
                                        const Args&... args) {
    const DeviceScope scope(common_device<!kIsIterator>(kNameOf<Op>, outputs, args...));
    StructuredMeta<Meta, sizeof...(I)> op(form, std::move(outputs));
    op.meta(ArgumentOf<Args>::for_meta(args)...);                // (1)
    run<Call>(kNameOf<Op>, kKernel, form, op.outputs, args...);  // (2)
    return std::move(op.outputs);
  }

  static Result functional(Args... args) {
    auto outputs = compute(Form::Functional, {}, args...);
    return Result(std::move(outputs[I])...);
  }

  static typename OutResult<std::index_sequence<I...>>::type out(
      Args... args, OutputReference<I>... outputs) {
    compute(Form::Out, {outputs...}, args...);
    return {outputs...};
  }
};

template <class Op, class Meta, typename SignatureOf<Op>::Call::Function* kKernel>
using FormsOf = Forms<Op, Meta, kKernel, typename SignatureOf<Op>::Arguments,
                      typename SignatureOf<Op>::Outputs>;

template <class Forms, class Arguments>
struct InplaceForm;
template <class Forms, class Self, class... Args>
struct InplaceForm<Forms, std::tuple<Self, Args...>> {
  static at::Tensor& inplace(at::Tensor& self, Args... args) {
    Forms::compute(Form::Inplace, {self}, self, args...);
    return self;
  }
};
// LITERALINCLUDE END: FORMS

// "mul", "Tensor" -> "mul.Tensor"
inline std::string overload(std::string name, const char* overload_name) {
  return *overload_name == '\0' ? name : name + "." + overload_name;
}

OPENREG_EXPORT bool is_operator(const std::string& overload);

// Registers the in-place form of `Op` if torch knows one: its name ends in '_'.
template <class Op, class Forms>
void impl_inplace(torch::Library& m) {
  if constexpr (SignatureOf<Op>::kMayBeInplace) {
    const std::string name = overload(c10::str(kNameOf<Op>, '_'), Op::overload_name);
    if (is_operator(name)) {
      m.impl(name.c_str(),
             &InplaceForm<Forms, typename SignatureOf<Op>::Arguments>::inplace);
    }
  }
}

// LITERALINCLUDE START: STRUCTURED
// Registers what ATen calls one structured operator: its functional form `Op`, its form
// with out= `Out`, and its in-place form if there is one. The types say what belongs
// together: a kernel of another signature does not compile.
template <class Op, class Out, class Meta,
          typename SignatureOf<Op>::Call::Function* kKernel>
void structured(torch::Library& m) {
  using All = FormsOf<Op, Meta, kKernel>;
  m.impl(overload(kNameOf<Op>, Op::overload_name).c_str(), &All::functional);
  m.impl(overload(kNameOf<Op>, Out::overload_name).c_str(), &All::out);
  impl_inplace<Op, All>(m);
}
// LITERALINCLUDE END: STRUCTURED

}  // namespace openreg
