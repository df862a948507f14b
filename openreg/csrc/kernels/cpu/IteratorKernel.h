// Fills a dispatch stub of ATen: a kernel that gets a TensorIterator; see
// docs/operators/stub.md.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

#include <utility>

#include "csrc/aten/structured/Signature.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg::cpu {

template <class Iterator>
Options options_of(const char* name, const Iterator& iterator) {
  return {name, Precision::Ignored,
          iterator.maybe_common_dtype().value_or(at::ScalarType::Undefined)};
}

template <class Function>
constexpr size_t kInputsOf = 0;
template <class... Parameters>
constexpr size_t kInputsOf<at::Tensor& (*)(Parameters...)> = sizeof...(Parameters) - 1;

// LITERALINCLUDE START: ITERATOR_KERNEL
// The kernel of a stub of operator `Op`. ATen has checked the arguments, allocated the
// output and put the operands into `iterator`, the output first. `kFunction` of the CPU
// takes the `kInputs` inputs and the output.
template <class Op, auto* kFunction, size_t... kInputs, class Iterator>
void call_operands(std::index_sequence<kInputs...>, Iterator& iterator) {
  call(options_of(kNameOf<Op>, iterator), kFunction, iterator.tensor(1 + kInputs)...,
       iterator.tensor(0));
}

// `Iterator` is TensorIterator or its base, as the stub declares.
template <class Op, auto* kFunction, class Iterator>
void iterator_kernel(Iterator& iterator) {
  constexpr size_t kInputs = kInputsOf<decltype(kFunction)>;
  call_operands<Op, kFunction>(std::make_index_sequence<kInputs>(), iterator);
}
// LITERALINCLUDE END: ITERATOR_KERNEL

}  // namespace openreg::cpu
