// Converts arguments of a launch for device code; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <c10/util/DimVector.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "csrc/Export.h"
#include "csrc/kernels/cpu/Operands.h"
#include "csrc/kernels/cpu/Shrink.h"
#include "csrc/kernels/cpu/TensorArg.h"
#include "csrc/runtime/random/PhiloxState.h"

namespace openreg::cpu {

inline const at::Tensor& or_undefined(const at::Tensor& tensor) { return tensor; }
inline at::Tensor or_undefined(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}

// The tensors of one call, in device code. What is one tensor for the caller is one for
// ATen, where it matters: in x.add_(y), and for sparse tensors in x + x.
class OPENREG_EXPORT Aliases {
 public:
  at::Tensor of(const TensorArg& arg);

 private:
  c10::SmallVector<std::pair<const void*, at::Tensor>, 4> shared_;
};

// LITERALINCLUDE START: ARGUMENT
// For a parameter of type `Parameter` of a device function:
//   Given            what the host passes;
//   add_to           reports it to the checks before a launch;
//   capture          what the launch keeps until the function runs: values, never
//                    references, because the caller's arguments are gone by then;
//   alias            in device code, the argument again, over the device's memory;
//   sizes            returns the numbers that a trial makes small;
//   tiny             a small one like it, on the CPU, for a trial.
template <class Parameter>
struct Argument {  // numbers, dtypes, flags: by value
  using Given = std::remove_cvref_t<Parameter>;
  using Captured = Given;
  static_assert(std::is_trivially_copyable_v<Given>);
  static void add_to(Operands& operands, const Given& value) {
    if constexpr (std::is_integral_v<Given>) {
      operands.add_choice(static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<Given, std::optional<int64_t>>) {
      operands.add_choice(value.value_or(INT64_MAX));
    }
  }
  static const Given& capture(const Given& value) { return value; }
  static const Given& alias(const Captured& value, Aliases&) { return value; }
  // LITERALINCLUDE END: ARGUMENT
  static Given tiny(const Given& value, const Shrink& shrink) {
    if constexpr (std::is_same_v<Given, int64_t>) {
      return shrink.small(at::IntArrayRef(value))[0];
    } else {
      return value;
    }
  }
  static void sizes(Shrink& shrink, const Given& value) {
    if constexpr (std::is_same_v<Given, int64_t>) {
      shrink.add(at::IntArrayRef(value));
    }
  }
};

template <Access kAccess>
struct TensorArgument {
  using Given = at::Tensor;
  using Captured = TensorArg;
  static void add_to(Operands& operands, const at::Tensor& value) {
    operands.add(value, kAccess);
  }
  static TensorArg capture(const at::Tensor& value) { return {value, kAccess}; }
  static at::Tensor alias(const TensorArg& value, Aliases& aliases) {
    return aliases.of(value);
  }
  static void sizes(Shrink& shrink, const at::Tensor& value) { shrink.add(value); }
  static at::Tensor tiny(const at::Tensor& value, const Shrink& shrink) {
    return shrink.small(value);
  }
};
template <>
struct Argument<const at::Tensor&> : TensorArgument<Access::Read> {};
template <>
struct Argument<at::Tensor> : TensorArgument<Access::Read> {};
template <>
struct Argument<at::Tensor&> : TensorArgument<Access::Write> {};

// A copy of a sparse tensor, which device code may resize. A copy of what the others
// refer to: an input that is the same tensor is the same copy.
struct Copied {
  at::Tensor tensor;
  operator at::Tensor&() { return tensor; }
};
template <>
struct Argument<Copied&> : TensorArgument<Access::Copy> {
  static Copied alias(const TensorArg& value, Aliases& aliases) {
    return {aliases.of(value)};
  }
  static Copied tiny(const at::Tensor& value, const Shrink& shrink) {
    return {shrink.small(value)};
  }
};

// Several tensors, some of which may be missing.
template <class GivenList, class Made, Access kAccess>
struct ListArgument {
  using Given = GivenList;
  using Captured = std::vector<TensorArg>;
  static void add_to(Operands& operands, const Given& value) {
    for (const auto& tensor : value) {
      operands.add(or_undefined(tensor), kAccess);
    }
    operands.end_of_list();
  }
  static void sizes(Shrink& shrink, const Given& value) {
    for (const auto& tensor : value) {
      shrink.add(or_undefined(tensor));
    }
  }
  static Captured capture(const Given& value) {
    Captured captured;
    for (const auto& tensor : value) {
      captured.emplace_back(or_undefined(tensor), kAccess);
    }
    return captured;
  }
  static Made alias(const Captured& value, Aliases& aliases) {
    Made made;
    for (const TensorArg& tensor : value) {
      made.push_back(aliases.of(tensor));
    }
    return made;
  }
  static Made tiny(const Given& value, const Shrink& shrink) {
    Made made;
    for (const auto& tensor : value) {
      made.push_back(shrink.small(or_undefined(tensor)));
    }
    return made;
  }
};
template <>
struct Argument<const at::ITensorListRef&>
    : ListArgument<at::ITensorListRef, std::vector<at::Tensor>, Access::Read> {};
// What an operator takes that updates every tensor of a list. No other argument is one
// of them, and a search would be quadratic.
template <>
struct Argument<at::TensorList>
    : ListArgument<at::TensorList, std::vector<at::Tensor>, Access::Write> {
  static std::vector<at::Tensor> alias(const Captured& value, Aliases&) {
    std::vector<at::Tensor> made;
    for (const TensorArg& tensor : value) {
      made.push_back(tensor.alias());
    }
    return made;
  }
};
using OptionalTensorList = c10::List<std::optional<at::Tensor>>;
template <>
struct Argument<const OptionalTensorList&>
    : ListArgument<OptionalTensorList, OptionalTensorList, Access::Read> {};

template <>
struct Argument<const std::optional<at::Tensor>&> {
  using Given = std::optional<at::Tensor>;
  using Captured = TensorArg;
  static void add_to(Operands& operands, const Given& value) {
    operands.add(or_undefined(value), Access::Read);
  }
  static void sizes(Shrink& shrink, const Given& value) {
    shrink.add(or_undefined(value));
  }
  static TensorArg capture(const Given& value) {
    return {or_undefined(value), Access::Read};
  }
  // Missing, and not undefined: some functions test only whether it is there.
  static Given alias(const TensorArg& value, Aliases& aliases) {
    return if_defined(aliases.of(value));
  }
  static Given tiny(const Given& value, const Shrink& shrink) {
    return if_defined(shrink.small(or_undefined(value)));
  }

 private:
  static Given if_defined(at::Tensor tensor) {
    return tensor.defined() ? std::make_optional(std::move(tensor)) : std::nullopt;
  }
};

// A number: its value may not fit into a dtype.
template <>
struct Argument<const at::Scalar&> {
  using Given = at::Scalar;
  using Captured = at::Scalar;
  static void add_to(Operands& operands, const Given& value) { operands.add(value); }
  static const Given& capture(const Given& value) { return value; }
  static const Given& alias(const Given& value, Aliases&) { return value; }
  static const Given& tiny(const Given& value, const Shrink&) { return value; }
};
template <>
struct Argument<const std::optional<at::Scalar>&> {
  using Given = std::optional<at::Scalar>;
  using Captured = Given;
  static void add_to(Operands& operands, const Given& value) {
    if (value.has_value()) {
      operands.add(*value);
    }
  }
  static const Given& capture(const Given& value) { return value; }
  static const Given& alias(const Given& value, Aliases&) { return value; }
  static const Given& tiny(const Given& value, const Shrink&) { return value; }
};

// What refers to memory of the caller: `Owner` keeps it.
template <class Reference, class Owner>
struct ReferenceArgument {
  using Given = Reference;
  using Captured = Owner;
  static void add_to(Operands&, const Given&) {}
  static Captured capture(const Given& value) {
    return Owner(value.begin(), value.end());
  }
  static Given alias(const Captured& value, Aliases&) { return value; }
  static Given tiny(const Given& value, const Shrink&) { return value; }
};
template <class Reference, class Owner>
struct ReferenceArgument<std::optional<Reference>, Owner> {
  using Given = std::optional<Reference>;
  using Captured = std::optional<Owner>;
  static void add_to(Operands&, const Given&) {}
  static Captured capture(const Given& value) {
    return value.has_value() ? Captured(std::in_place, value->begin(), value->end())
                             : std::nullopt;
  }
  static Given alias(const Captured& value, Aliases&) {
    return value.has_value() ? Given(*value) : std::nullopt;
  }
  static Given tiny(const Given& value, const Shrink&) { return value; }
};
template <>
struct Argument<at::IntArrayRef> : ReferenceArgument<at::IntArrayRef, c10::DimVector> {
  static void add_to(Operands& operands, at::IntArrayRef value) {
    operands.add_choice(static_cast<int64_t>(value.size()));
    for (const int64_t number : value) {  // dimensions, or small sizes
      operands.add_choice(number);
    }
  }
  static void sizes(Shrink& shrink, at::IntArrayRef value) { shrink.add(value); }
  static c10::DimVector tiny(at::IntArrayRef value, const Shrink& shrink) {
    return shrink.small(value);
  }
};
template <>
struct Argument<at::OptionalIntArrayRef> {
  using Given = at::OptionalIntArrayRef;
  using Captured = std::optional<c10::DimVector>;
  static void add_to(Operands& operands, const Given& value) {
    operands.add_choice(value.has_value() ? static_cast<int64_t>(value->size()) : -1);
  }
  static Captured capture(const Given& value) {
    return value.has_value() ? Captured(*value) : std::nullopt;
  }
  static Given alias(const Captured& value, Aliases&) {
    return value.has_value() ? Given(*value) : std::nullopt;
  }
  static void sizes(Shrink& shrink, const Given& value) {
    if (value.has_value()) {
      shrink.add(*value);
    }
  }
  struct Tiny {
    Captured values;
    operator Given() const {
      return values.has_value() ? Given(*values) : std::nullopt;
    }
  };
  static Tiny tiny(const Given& value, const Shrink& shrink) {
    return {value.has_value() ? Captured(shrink.small(*value)) : std::nullopt};
  }
};
// The name of a mode, which may choose another kernel.
template <>
struct Argument<std::string_view> : ReferenceArgument<std::string_view, std::string> {
  static void add_to(Operands& operands, std::string_view value) {
    operands.add(value);
  }
};
template <>
struct Argument<std::optional<std::string_view>>
    : ReferenceArgument<std::optional<std::string_view>, std::string> {
  static void add_to(Operands& operands, std::optional<std::string_view> value) {
    operands.add(value.value_or("None"));
  }
};

// Where a random kernel starts. Of a graph, the device has the state: inside a kernel.
template <>
struct Argument<PhiloxState> {
  using Given = PhiloxKernelState;
  using Captured = PhiloxKernelState;
  static void add_to(Operands&, const Given&) {}
  static const Given& capture(const Given& value) { return value; }
  static PhiloxState alias(const Captured& value, Aliases&);
};

}  // namespace openreg::cpu
