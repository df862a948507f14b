// A meta function for operators that work element by element and have none in ATen; see
// docs/operators/structured.md.
#pragma once

#include <ATen/TensorIterator.h>

#include "csrc/aten/common/TensorArguments.h"

namespace openreg {

// LITERALINCLUDE START: POINTWISE
// TensorIterator broadcasts the inputs, works out the common dtype, and makes or checks
// the output. A class derived from this may check more.
struct Pointwise : at::TensorIteratorBase {
  template <class... Args>
  void meta(const Args&... args) {
    at::TensorIteratorConfig config;
    config.set_check_mem_overlap(true)
        .allow_cpu_scalars(true)
        .promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .enforce_safe_casting_to_output(true)
        .add_output(maybe_get_output(0));
    for_each_tensor([&](const at::Tensor& tensor) { config.add_const_input(tensor); },
                    args...);
    build(config);
  }
};
// LITERALINCLUDE END: POINTWISE

}  // namespace openreg
