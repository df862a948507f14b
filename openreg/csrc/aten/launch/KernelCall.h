// A function of the kernel library with its arguments, ready for a stream; see
// docs/operators/structured.md.
#pragma once

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "csrc/aten/kernels/KernelDtypes.h"
#include "csrc/aten/launch/Arguments.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/structured/StructuredOutput.h"

namespace openreg {

// "mul" of at::_ops::mul_Tensor: a literal, for errors and traces.
template <class Op>
constexpr const char* kNameOf = Op::name + std::string_view("aten::").size();

// "mul", "Tensor" -> "mul.Tensor"
inline std::string overload(std::string name, const char* overload_name) {
  return *overload_name == '\0' ? name : name + "." + overload_name;
}

// "mul.Tensor" of at::_ops::mul_Tensor.
template <class Op>
const char* overload_of() {
  static const auto* name = new std::string(overload(kNameOf<Op>, Op::overload_name));
  return name->c_str();  // never destroyed: kernels are launched at exit, too
}

template <size_t>
using OutputReference = at::Tensor&;

// What an operator with so many outputs returns: Tensor& or a tuple of them.
template <class Outputs>
struct OutResult;
template <size_t... I>
struct OutResult<std::index_sequence<I...>> {
  using type = std::tuple<OutputReference<I>...>;
};
template <>
struct OutResult<std::index_sequence<0>> {
  using type = at::Tensor&;
};

// A function of the kernel library, and what is known of it before it is called.
template <class Function>
struct Kernel {
  const char* name;    // "mul"
  const char* op;      // "mul.Tensor"
  Function* function;  // at::cpu::mul_outf
  Reads reads = Reads::Nothing;
  // Null if the dtypes depend on a text among the arguments.
  const KernelDtypes* dtypes = KernelDtypes::find(op);

  const KernelDtypes& dtypes_for(std::string_view text) const {
    return dtypes != nullptr ? *dtypes : KernelDtypes::of(c10::str(op, ':', text));
  }
};

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

  // `compute`: the dtype to which the inputs are converted, if not Undefined.
  KernelCall(Function* function, Form form, at::ScalarType compute,
             const Outputs& outputs, const Args&... args)
      : function_(function),
        form_(form),
        compute_(compute),
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
      return compute_ == at::ScalarType::Undefined ? std::move(value)
                                                   : value.to(compute_);
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
  at::ScalarType compute_;
  std::array<KernelTensorArg, sizeof...(I)>
      outputs_;  // first: one may be an argument too
  std::tuple<decltype(ArgumentOf<Args>::capture(std::declval<Args>()))...> arguments_;
};

// Whether the common dtype of the inputs of TensorIterator came from torch's default
// dtype, which may be another one when the kernel runs.
template <class... Args>
bool depends_on_default_dtype(at::ScalarType compute, const Args&... args) {
  bool given = false;
  const auto look_at = [&](const at::Tensor& tensor) {
    given |= tensor.scalar_type() == compute &&
             !tensor.unsafeGetTensorImpl()->is_wrapped_number();
  };
  (for_each_tensor(args, look_at), ...);
  return !given;
}

template <class... Args>
std::string_view text_of(const Args&... args) {
  std::string_view text;
  (for_each_text(args, [&](std::string_view value) { text = value; }), ...);
  return text;
}

// Of the tensors among the arguments, then of the output; Undefined for those without
// elements. Where no tensor has an element, any dtype will do.
template <class... Args>
c10::SmallVector<at::ScalarType, 8> dtypes_of(const at::Tensor& out,
                                              const Args&... args) {
  constexpr at::ScalarType kNone = at::ScalarType::Undefined;
  c10::SmallVector<at::ScalarType, 8> dtypes;
  (for_each_dtype(args, [&](at::ScalarType dtype) { dtypes.push_back(dtype); }), ...);
  const bool none = std::all_of(dtypes.begin(), dtypes.end(),
                                [](at::ScalarType dtype) { return dtype == kNone; });
  dtypes.push_back(none && !dtypes.empty() && out.numel() == 0 ? kNone
                                                               : out.scalar_type());
  return dtypes;
}

// LITERALINCLUDE START: RUN
// Enqueues the kernel, unless it has nothing to write. `compute` is the common dtype
// that TensorIterator found, or Undefined. Throws if the kernel library has no kernel
// for the dtypes, or cannot convert a number to them.
template <class Call, class... Args>
void run(const Kernel<typename Call::Function>& kernel, Form form,
         at::ScalarType compute, const typename Call::Outputs& outputs,
         const Args&... args) {
  const auto dtypes = dtypes_of(outputs[0], args...);
  c10::SmallVector<const at::Scalar*, 4> numbers;
  (for_each_scalar(args, [&](const at::Scalar* x) { numbers.push_back(x); }), ...);
  const KernelDtypes& entry = kernel.dtypes_for(text_of(args...));  // (1)
  const bool one_dtype = entry.computes_in_one_dtype();
  const bool empty =
      std::all_of(outputs.begin(), outputs.end(),
                  [](const at::Tensor& out) { return out.numel() == 0; });
  entry.check(kernel.name, compute, dtypes, numbers);  // (2)
  const bool convert = one_dtype && depends_on_default_dtype(compute, args...);
  if (!empty) {
    launch(kernel.name, outputs[0].device(),
           Call(kernel.function, form, convert ? compute : at::ScalarType::Undefined,
                outputs, args...),
           kernel.reads);  // (3)
  }
}
// LITERALINCLUDE END: RUN

}  // namespace openreg
