// A function of the kernel library with its arguments, ready for a stream; see
// docs/operators/structured.md.
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "csrc/aten/native/Arguments.h"
#include "csrc/aten/native/Launch.h"
#include "csrc/aten/native/StructuredOutput.h"

namespace openreg {

// "mul" of at::_ops::mul_Tensor: a literal, for errors and traces.
template <class Op>
constexpr const char* kNameOf = Op::name + std::string_view("aten::").size();

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

  KernelCall(Function* function, Form form, const Outputs& outputs, const Args&... args)
      : function_(function),
        form_(form),
        outputs_{KernelTensor(outputs[I])...},
        arguments_(ArgumentOf<Args>::capture(args)...) {}

  // On the device.
  void operator()() const {
    Outputs outputs{outputs_[I].on_device()...};
    std::apply(
        [&](const auto&... captured) {
          call(function_, form_, outputs,
               std::tuple(ArgumentOf<Args>::on_device(captured)...));
        },
        arguments_);
  }

  // On the host, without values.
  static void try_on_host(Function* function, Form form, const Outputs& outputs,
                          const Args&... args) {
    Outputs stand_ins{stand_in_for_output(outputs[I])...};
    call(function, form, stand_ins, std::tuple(ArgumentOf<Args>::stand_in(args)...));
  }

 private:
  template <class Values>
  static void call(Function* function, Form form, Outputs& outputs, Values values) {
    if constexpr (std::is_same_v<std::tuple_element_t<0, Values>, at::Tensor>) {
      if (form == Form::Inplace) {
        std::get<0>(values) = outputs[0];  // one tensor, not two over the same memory
      }
    }
    std::apply([&](auto&... value) { function(value..., outputs[I]...); }, values);
  }

  Function* function_;
  Form form_;
  std::array<KernelTensor, sizeof...(I)> outputs_;  // first: one may be an argument too
  std::tuple<decltype(ArgumentOf<Args>::capture(std::declval<Args>()))...> arguments_;
};
// LITERALINCLUDE END: KERNEL_CALL

// LITERALINCLUDE START: RUN
// Enqueues `function`, unless it has nothing to write. Throws what the kernel would
// throw for the dtypes, for numbers that do not fit into them, and for unknown texts.
template <class Call, class... Args>
void run(const char* name, typename Call::Function* function, Form form,
         const typename Call::Outputs& outputs, const Args&... args) {
  const auto trial = [&] { Call::try_on_host(function, form, outputs, args...); };
  const at::ScalarType dtype = outputs[0].scalar_type();
  uint64_t signature = reinterpret_cast<uintptr_t>(function);
  bool all_fit = true;
  const auto add_dtype = [&](const at::Tensor& tensor) {
    signature = signature * 1000003 + static_cast<uint64_t>(tensor.scalar_type()) + 1;
  };
  (for_each_tensor(args, add_dtype), ...);
  for (const at::Tensor& output : outputs) {
    add_dtype(output);
  }
  (for_each_scalar(args, [&](const at::Scalar& x) { all_fit &= fits(x, dtype); }), ...);
  const auto add_text = [&](std::string_view text) {
    signature = signature * 1000003 + std::hash<std::string_view>()(text);
  };
  (for_each_text(args, add_text), ...);
  KernelLibrary::require(signature, trial);
  if (!all_fit) {
    KernelLibrary::require_values(trial);
  }
  const bool empty =
      std::all_of(outputs.begin(), outputs.end(),
                  [](const at::Tensor& out) { return out.numel() == 0; });
  if (!empty) {
    launch(name, outputs[0].device(), Call(function, form, outputs, args...));
  }
}
// LITERALINCLUDE END: RUN

}  // namespace openreg
