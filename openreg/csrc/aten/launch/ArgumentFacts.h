// What the host checks of an operator's arguments before a launch; see
// docs/operators/structured-errors.md.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <c10/util/SmallVector.h>

#include <forward_list>
#include <optional>
#include <string_view>

namespace openreg {

// LITERALINCLUDE START: ARGUMENT_FACTS
// The arguments of a call, without their types: one check serves all operators. Refers
// to the arguments, and is for one call.
struct ArgumentFacts {
  struct Operand {
    const at::Tensor* tensor;
    size_t place;  // among the arguments that are a tensor or several
  };
  c10::SmallVector<Operand, 6> tensors;  // without those that are missing
  size_t places = 0;
  c10::SmallVector<const at::Scalar*, 4> numbers;  // null: missing
  std::string_view text;                           // chooses the kernel: reduce="amax"

  // One dtype for each place, then that of `out`: of a list, the first one's; Undefined
  // for what is missing or has no elements, which no kernel reads. Where no tensor has
  // an element, any dtype will do.
  c10::SmallVector<at::ScalarType, 8> dtypes(const at::Tensor& out) const;
  // LITERALINCLUDE END: ARGUMENT_FACTS

  void add(const at::Tensor& value);
  void add(const std::optional<at::Tensor>& value);
  void add(const at::ITensorListRef& value);
  void add(const c10::List<std::optional<at::Tensor>>& value);
  void add(const at::Scalar& value) { numbers.push_back(&value); }
  void add(const std::optional<at::Scalar>& value);
  void add(std::string_view value) { text = value; }
  void add(std::optional<std::string_view> value) { text = value.value_or("None"); }
  template <class Other>
  void add(const Other&) {}  // sizes, dtypes, flags

 private:
  std::forward_list<at::Tensor> held_;  // a List gives copies of its tensors
};

template <class... Args>
ArgumentFacts facts_of(const Args&... args) {
  ArgumentFacts facts;
  (facts.add(args), ...);
  return facts;
}

}  // namespace openreg
