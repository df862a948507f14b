// Registers operators that update tensors and lists of tensors in place; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <torch/library.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/structured/Signature.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg::cpu {

template <class Op, auto* kFunction, class Check, class Schema>
struct InPlace;
template <class Op, auto* kFunction, class Check, class Result, class... Args>
struct InPlace<Op, kFunction, Check, Result(Args...)> {
  // LITERALINCLUDE START: IN_PLACE_LISTS
  static Result call(Args... args) {
    std::optional<c10::Device> device;
    (check_device(device, args), ...);
    Check::check(kNameOf<Op>, args...);
    launch(kNameOf<Op>, kFunction, args...);  // one launch for all tensors of the lists
    if constexpr (!std::is_void_v<Result>) {
      return std::get<0>(std::tie(args...));
    }
  }
  // LITERALINCLUDE END: IN_PLACE_LISTS

 private:
  template <class T>
  static void check_device(std::optional<c10::Device>& device, const T& value) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      if (value.is_cpu() && value.dim() == 0) {
        return;  // a number, such as a learning rate, may stay there
      }
    }
    for_each_tensor(
        [&](const at::Tensor& tensor) {
          c10::impl::check_and_update_common_device(device, tensor, kNameOf<Op>,
                                                    "a list");
        },
        value);
  }
};

// An operator that returns nothing or its first argument, computed by the function of
// ATen's library for it. `Check::check(name, arguments...)` throws if it could not be.
template <class Op, typename Op::schema* kFunction, class Check>
void in_place(torch::Library& m) {
  m.impl(overload_of<Op>(), &InPlace<Op, kFunction, Check, typename Op::schema>::call);
}

}  // namespace openreg::cpu
