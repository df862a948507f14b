// Operators that work element by element and have no structured meta function; see
// docs/operators/structured.md.
#pragma once

#include "csrc/aten/native/Structured.h"

namespace openreg {

template <class Op, auto* kFunction, class Arguments>
struct PointwiseForms;

// LITERALINCLUDE START: POINTWISE_FORMS
// TensorIterator broadcasts the inputs, works out the common dtype, and makes or checks
// the output.
template <class Op, auto* kFunction, class... Args>
struct PointwiseForms<Op, kFunction, std::tuple<Args...>> {
  using Call = typename SignatureOf<Op>::Call;

  static at::Tensor compute(Form form, at::Tensor out, const Args&... args) {
    const DeviceScope scope(
        common_device<false>(kNameOf<Op>, std::array{out}, args...));
    at::TensorIteratorConfig config;
    config.set_check_mem_overlap(true)
        .allow_cpu_scalars(true)
        .promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .enforce_safe_casting_to_output(true)
        .add_owned_output(out);
    (for_each_tensor(args, [&](const at::Tensor& x) { config.add_const_input(x); }),
     ...);
    out = config.build().output();
    run<Call>(kNameOf<Op>, kFunction, form, {out}, args...);
    return out;
  }

  static at::Tensor functional(Args... args) {
    return compute(Form::Functional, {}, args...);
  }

  static at::Tensor& out(Args... args, at::Tensor& out) {
    compute(Form::Out, out, args...);
    return out;
  }
};
// LITERALINCLUDE END: POINTWISE_FORMS

// Registers the functional form and, if there is one, the in-place form; with `Out`,
// the form with out= as well.
template <class Op, typename SignatureOf<Op>::Call::Function* kFunction,
          class Out = void>
void pointwise(torch::Library& m) {
  using Arguments = typename SignatureOf<Op>::Arguments;
  using All = PointwiseForms<Op, kFunction, Arguments>;
  m.impl(overload(kNameOf<Op>, Op::overload_name).c_str(), &All::functional);
  impl_inplace<Op, All>(m);
  if constexpr (!std::is_void_v<Out>) {
    m.impl(overload(kNameOf<Op>, Out::overload_name).c_str(), &All::out);
  }
}

}  // namespace openreg
