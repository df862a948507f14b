// Fills a dispatch stub of ATen: a kernel that gets a TensorIterator; see
// docs/operators/stub.md.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

#include "csrc/aten/launch/LaunchOut.h"

namespace openreg {

// LITERALINCLUDE START: ITERATOR_KERNEL
// The kernel of a stub of operator `Op`. ATen has checked the arguments, allocated the
// output and put the operands into `iterator`, the output first. `kFunction` of the
// kernel library takes the `kInputs` inputs and the output.
template <class Op, auto* kFunction, size_t... kInputs, class Iterator>
void launch_operands(std::index_sequence<kInputs...>, Iterator& iterator) {
  launch_out_as(kNameOf<Op>, overload_of<Op>(),
                iterator.maybe_common_dtype().value_or(at::ScalarType::Undefined),
                kFunction, std::array{iterator.tensor(0)},
                iterator.tensor(1 + kInputs)...);
}

// `Iterator` is TensorIterator or its base, as the stub declares.
template <class Op, auto* kFunction, class Iterator>
void iterator_kernel(Iterator& iterator) {
  constexpr size_t kInputs = kParameters<decltype(kFunction)> - 1;
  launch_operands<Op, kFunction>(std::make_index_sequence<kInputs>(), iterator);
}
// LITERALINCLUDE END: ITERATOR_KERNEL

}  // namespace openreg
