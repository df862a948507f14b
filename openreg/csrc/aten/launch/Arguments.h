// What becomes of an operator's arguments on their way to a kernel; see
// docs/operators/structured.md.
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

#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {

// LITERALINCLUDE START: ARGUMENT
// For a parameter of type T of an operator's C++ signature:
//   for_meta   what the structured meta function of ATen takes instead;
//   capture    what the launch keeps until the kernel runs: values, never references,
//              because the caller's arguments are gone by then;
//   alias      inside the kernel, the argument again, over the device's memory.
template <class T>
struct Argument {  // numbers, dtypes, flags, Scalar: by value
  static_assert(std::is_trivially_copyable_v<T> || std::is_same_v<T, at::Scalar>);
  static const T& for_meta(const T& value) { return value; }
  static T capture(const T& value) { return value; }
  static const T& alias(const T& value) { return value; }
};

template <>
struct Argument<at::Tensor> {
  static const at::Tensor& for_meta(const at::Tensor& value) { return value; }
  static KernelTensorArg capture(const at::Tensor& value) {
    return KernelTensorArg::input(value);
  }
  static at::Tensor alias(const KernelTensorArg& value) { return value.alias(); }
};
// LITERALINCLUDE END: ARGUMENT

template <>
struct Argument<std::optional<at::Tensor>> {
  using Captured = std::optional<KernelTensorArg>;
  static at::OptionalTensorRef for_meta(const std::optional<at::Tensor>& value) {
    return is_given(value) ? at::OptionalTensorRef(*value) : at::OptionalTensorRef();
  }
  static Captured capture(const std::optional<at::Tensor>& value) {
    return capture_input(value);
  }
  static std::optional<at::Tensor> alias(const Captured& value) {
    return if_given(value);
  }
};

template <>
struct Argument<at::ITensorListRef> {
  static const at::ITensorListRef& for_meta(const at::ITensorListRef& value) {
    return value;
  }
  static std::vector<KernelTensorArg> capture(const at::ITensorListRef& value) {
    std::vector<KernelTensorArg> captured;
    for (const at::Tensor& tensor : value) {
      captured.push_back(KernelTensorArg::input(tensor));
    }
    return captured;
  }
  static std::vector<at::Tensor> alias(const std::vector<KernelTensorArg>& value) {
    std::vector<at::Tensor> tensors;
    for (const KernelTensorArg& tensor : value) {
      tensors.push_back(tensor.alias());
    }
    return tensors;
  }
};

template <>
struct Argument<c10::List<std::optional<at::Tensor>>> {
  using List = c10::List<std::optional<at::Tensor>>;
  using One = Argument<std::optional<at::Tensor>>;
  static at::IOptTensorListRef for_meta(const List& value) { return value; }
  static std::vector<One::Captured> capture(const List& value) {
    std::vector<One::Captured> captured;
    for (const std::optional<at::Tensor>& tensor : value) {
      captured.push_back(One::capture(tensor));
    }
    return captured;
  }
  static List alias(const std::vector<One::Captured>& value) {
    List list;
    for (const One::Captured& tensor : value) {
      list.push_back(One::alias(tensor));
    }
    return list;
  }
};

template <>
struct Argument<std::optional<at::Scalar>> {
  static at::OptionalScalarRef for_meta(const std::optional<at::Scalar>& value) {
    return value.has_value() ? at::OptionalScalarRef(&*value) : at::OptionalScalarRef();
  }
  static std::optional<at::Scalar> capture(const std::optional<at::Scalar>& value) {
    return value;
  }
  static const std::optional<at::Scalar>& alias(
      const std::optional<at::Scalar>& value) {
    return value;
  }
};

template <>
struct Argument<at::IntArrayRef> {
  static at::IntArrayRef for_meta(at::IntArrayRef value) { return value; }
  static c10::DimVector capture(at::IntArrayRef value) { return c10::DimVector(value); }
  static at::IntArrayRef alias(const c10::DimVector& value) { return value; }
};

template <>
struct Argument<at::OptionalIntArrayRef> {
  using Captured = std::optional<c10::DimVector>;
  static at::OptionalIntArrayRef for_meta(at::OptionalIntArrayRef value) {
    return value;
  }
  static Captured capture(at::OptionalIntArrayRef value) {
    return value.has_value() ? Captured(*value) : std::nullopt;
  }
  static at::OptionalIntArrayRef alias(const Captured& value) {
    return value.has_value() ? at::OptionalIntArrayRef(*value) : std::nullopt;
  }
};

template <>
struct Argument<std::string_view> {
  static std::string_view for_meta(std::string_view value) { return value; }
  static std::string capture(std::string_view value) { return std::string(value); }
  static std::string_view alias(const std::string& value) { return value; }
};

template <>
struct Argument<std::optional<std::string_view>> {
  using Captured = std::optional<std::string>;
  using Value = std::optional<std::string_view>;
  static Value for_meta(Value value) { return value; }
  static Captured capture(Value value) {
    return value.has_value() ? Captured(*value) : std::nullopt;
  }
  static Value alias(const Captured& value) {
    return value.has_value() ? Value(*value) : std::nullopt;
  }
};

template <class T>
using ArgumentOf = Argument<std::remove_cvref_t<T>>;

}  // namespace openreg
