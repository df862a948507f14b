// Turns a kernel into the operators of ATen that share it; see
// docs/operators/structured.md.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <torch/library.h>

#include <array>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/structured/MetaArgument.h"
#include "csrc/aten/structured/Signature.h"
#include "csrc/aten/structured/StructuredOutput.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {

// ATen's meta function of an operator, which requests the outputs.
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

  // Requested by kernels that write only one layout.
  void set_output_strided(int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    set_output_raw_strided(index, sizes, strides, options);
  }
};

// Throws if a kernel would overwrite what it has yet to read, or would write an element
// twice. In place, the first argument is the output.
template <class Self, class... Args>
void check_overlaps(Form form, const at::Tensor& out, const Self& self,
                    const Args&... args) {
  const auto check = [&](const at::Tensor& input) {
    if (input.scalar_type() == out.scalar_type()) {
      at::assert_no_partial_overlap(out, input);  // the same memory, whole, is allowed
    } else {
      at::assert_no_overlap(out, input);
    }
  };
  at::assert_no_internal_overlap(out);
  if (form != Form::Inplace) {
    for_each_tensor(check, self);
  }
  for_each_tensor(check, args...);
}

// Properties of a call, besides its arguments, for its kernel.
struct StructuredCall {
  const char* name;  // "mul", a literal
  Form form;
  // That TensorIterator found; Undefined for other operators.
  at::ScalarType common_dtype = at::ScalarType::Undefined;
};

// The arguments that are no tensors: what a kernel needs beside its iterator.
template <class T>
auto without_tensor(const T& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Value, at::Tensor> ||
                std::is_same_v<Value, std::optional<at::Tensor>>) {
    return std::tuple<>();
  } else {
    return std::tuple<const T&>(value);
  }
}

// Calls a kernel: with the iterator and the numbers, if ATen's meta function is one;
// else with all arguments and the outputs.
template <class Kernel, class Meta, class... Args, size_t... I>
void call_kernel(const Kernel& kernel, const StructuredCall& call, Meta& op,
                 std::array<at::Tensor, sizeof...(I)>& outputs,
                 std::index_sequence<I...>, const Args&... args) {
  if constexpr (std::is_invocable_v<Kernel, const StructuredCall&, const Args&...,
                                    OutputReference<I>...>) {
    kernel(call, args..., outputs[I]...);
  } else if ((outputs[I].numel() + ...) == 0) {
    return;  // nothing to write
  } else if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) {
    at::TensorIteratorBase& iterator = op;
    std::apply([&](const auto&... numbers) { kernel(iterator, numbers...); },
               std::tuple_cat(without_tensor(args)...));
  } else {
    kernel(args..., outputs[I]...);
  }
}

// An operator in all its forms, which differ in the outputs that they start with. One
// class for all operators of a signature.
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

template <class... Args, size_t... I>
struct StructuredOp<std::tuple<Args...>, std::index_sequence<I...>> {
  using Outputs = std::array<at::Tensor, sizeof...(I)>;
  using Reference = typename OutResult<std::index_sequence<I...>>::type;
  using Run = void(const StructuredOp&, Form, Outputs&, const Args&...);

  const char* name;  // "mul"
  const char* op;    // "mul.Tensor"
  Run* run;          // makes the outputs, and calls the kernel

  Outputs compute(Form form, Outputs outputs, const Args&... args) const {
    const OpenRegGuard guard(first_device(name, outputs[I]..., args...));
    run(*this, form, outputs, args...);
    return outputs;
  }

  static constexpr bool kMayBeInplace =
      sizeof...(I) == 1 &&
      std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>, const at::Tensor&>;
  using Result =
      std::conditional_t<sizeof...(I) == 1, at::Tensor, std::tuple<OutputValue<I>...>>;

  // Registers the functional form, the in-place form if torch has one, and the form
  // with out= if `out`, its overload name, is not null. This object outlives `m`.
  void impl(torch::Library& m, const char* overload_name, const char* out) const {
    m.impl(op, [this](Args... args) -> Result {
      Outputs outputs = compute(Form::Functional, {}, args...);
      return Result(std::move(outputs[I])...);
    });
    if (out != nullptr) {
      m.impl(overload(name, out),
             [this](Args... args, OutputReference<I>... outputs) -> Reference {
               compute(Form::Out, {outputs...}, args...);
               return {outputs...};
             });
    }
    if constexpr (kMayBeInplace) {
      const char* inplace = inplace_overload(name, overload_name);
      if (inplace != nullptr) {
        m.impl(inplace, InplaceForm<std::tuple<Args...>>::of(this));
      }
    }
  }
};

template <class Op>
using StructuredOpOf = StructuredOp<typename SignatureOf<Op>::Arguments,
                                    typename SignatureOf<Op>::Outputs>;

// The part that is specific to each operator.
template <class Op, class Meta, class Kernel, class Base = StructuredOpOf<Op>>
struct OperatorWith;
template <class Op, class Meta, class Kernel, class... Args, size_t... I>
struct OperatorWith<Op, Meta, Kernel,
                    StructuredOp<std::tuple<Args...>, std::index_sequence<I...>>>
    : StructuredOp<std::tuple<Args...>, std::index_sequence<I...>> {
  using Base = StructuredOp<std::tuple<Args...>, std::index_sequence<I...>>;

  Kernel kernel;

  explicit OperatorWith(Kernel kernel)
      : Base{kNameOf<Op>, overload(kNameOf<Op>, Op::overload_name), &run},
        kernel(std::move(kernel)) {}

  // LITERALINCLUDE START: RUN
  static void run(const Base& base, Form form, typename Base::Outputs& outputs,
                  const Args&... args) {
    constexpr bool kIterates = std::is_base_of_v<at::TensorIteratorBase, Meta>;
    if constexpr (!kIterates) {  // else the iterator checks devices and overlaps
      check_same_device(base.name, outputs[I]..., args...);
    }
    StructuredMeta<Meta, sizeof...(I)> op(form, outputs);
    if constexpr (requires { op.meta(args...); }) {
      op.meta(args...);  // (1)
    } else {
      op.meta(meta_argument(args)...);
    }
    StructuredCall call{base.name, form};
    if constexpr (kIterates) {
      call.common_dtype = op.maybe_common_dtype().value_or(at::ScalarType::Undefined);
    } else if (form == Form::Out ||
               (form == Form::Inplace && !requires { Kernel::kMayOverlapItself; })) {
      (check_overlaps(form, outputs[I], args...), ...);  // (2)
    }
    call_kernel(static_cast<const OperatorWith&>(base).kernel, call, op, outputs,
                std::index_sequence<I...>(), args...);  // (3)
  }
  // LITERALINCLUDE END: RUN
};

// Registers what ATen calls one structured operator, with one kernel: its functional
// form `Op`, its form with out= `Out`, and its in-place form if there is one. `kernel`
// is called on the launching thread, with the device current, the arguments checked and
// the outputs made; it enqueues and returns:
//
//   kernel(iterator, numbers...)       if `Meta` is a TensorIterator
//   kernel(arguments..., outputs...)   if it is not, as torch's own impl functions
// LITERALINCLUDE START: STRUCTURED
template <class Op, class Out, class Meta, class Kernel>
void structured(torch::Library& m, Kernel kernel) {
  static const auto* const op = new OperatorWith<Op, Meta, Kernel>(std::move(kernel));
  op->impl(m, Op::overload_name, Out::overload_name);
}
// LITERALINCLUDE END: STRUCTURED

// The same for an operator that has no form with out=.
template <class Op, class Meta, class Kernel>
void structured_without_out(torch::Library& m, Kernel kernel) {
  static const auto* const op = new OperatorWith<Op, Meta, Kernel>(std::move(kernel));
  op->impl(m, Op::overload_name, nullptr);
}

}  // namespace openreg
