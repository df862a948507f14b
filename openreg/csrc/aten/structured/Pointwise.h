// Operators that work element by element and have no structured meta function; see
// docs/operators/structured.md.
#pragma once

#include "csrc/aten/structured/Structured.h"

namespace openreg {

template <class Arguments>
struct InferPointwise;

// LITERALINCLUDE START: POINTWISE_FORMS
// TensorIterator broadcasts the inputs, works out the common dtype, and makes or checks
// the output.
template <class... Args>
struct InferPointwise<std::tuple<Args...>> {
  static at::ScalarType run(Form, std::array<at::Tensor, 1>& outputs,
                            const ArgumentFacts& facts, const Args&...) {
    at::TensorIteratorConfig config;
    config.set_check_mem_overlap(true)
        .allow_cpu_scalars(true)
        .promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .enforce_safe_casting_to_output(true)
        .add_owned_output(outputs[0]);
    for (const ArgumentFacts::Operand& operand : facts.tensors) {
      config.add_const_input(*operand.tensor);
    }
    const at::TensorIterator iterator = config.build();
    outputs[0] = iterator.output();
    return iterator.common_dtype();
  }
};
// LITERALINCLUDE END: POINTWISE_FORMS

// Registers the functional form and, if there is one, the in-place form; with `Out`,
// the form with out= as well. `Infer` may check more.
template <class Op, typename StructuredOpOf<Op>::Call::Function* kFunction,
          class Out = void,
          class Infer = InferPointwise<typename SignatureOf<Op>::Arguments>>
void pointwise(torch::Library& m) {
  static const StructuredOpOf<Op> op{
      {kNameOf<Op>, overload(kNameOf<Op>, Op::overload_name), kFunction},
      /*all_on_device=*/false,
      &Infer::run};
  if constexpr (std::is_void_v<Out>) {
    op.impl(m, Op::overload_name, nullptr);
  } else {
    op.impl(m, Op::overload_name, Out::overload_name);
  }
}

}  // namespace openreg
