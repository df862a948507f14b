// Makes operators with a sparse result of those of the CPU; see
// docs/operators/sparse.md.
#pragma once

#include <torch/library.h>

#include <tuple>
#include <type_traits>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/structured/Signature.h"
#include "csrc/kernels/cpu/LaunchAndWait.h"

namespace openreg::cpu {

// LITERALINCLUDE START: SPARSE_OPERATOR
// The operator `Op` of at::_ops for a device. Its result has as many elements as the
// device finds.
template <class Op, class Schema = typename Op::schema>
struct SparseOperator;

template <class Op, class... Args>
struct SparseOperator<Op, at::Tensor(Args...)> {
  static at::Tensor call(Args... args) {
    const c10::Device device(at::kPrivateUse1, first_device(kNameOf<Op>, args...));
    return launch_and_bring(kNameOf<Op>, device, &Op::call, args...);
  }
};
// LITERALINCLUDE END: SPARSE_OPERATOR

template <class Op, class... Args>
struct SparseOperator<Op, at::Tensor&(Args...)> {  // the last argument is out=
  static at::Tensor& call(Args... args) {
    at::Tensor& out = std::get<sizeof...(Args) - 1>(std::tie(args...));
    launch_and_bring_into(kNameOf<Op>, out, &on_device, args...);
    return out;
  }

 private:
  // ATen's operators resize a sparse tensor that they write.
  template <class T>
  using Own = std::conditional_t<std::is_same_v<T, at::Tensor&>, Copied&, T>;
  static at::Tensor on_device(Own<Args>... args) { return Op::call(args...); }
};

template <class Op>
void sparse_operator(torch::Library& m) {
  m.impl(overload_of<Op>(), &SparseOperator<Op>::call);
}

}  // namespace openreg::cpu
