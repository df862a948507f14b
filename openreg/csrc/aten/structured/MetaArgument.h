// An argument of an operator as ATen's meta functions take it; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

template <class T>
const T& meta_argument(const T& value) {
  return value;
}
inline at::OptionalTensorRef meta_argument(const std::optional<at::Tensor>& value) {
  return value.has_value() && value->defined() ? at::OptionalTensorRef(*value)
                                               : at::OptionalTensorRef();
}
inline at::IOptTensorListRef meta_argument(
    const c10::List<std::optional<at::Tensor>>& value) {
  return value;
}
inline at::OptionalScalarRef meta_argument(const std::optional<at::Scalar>& value) {
  return value.has_value() ? at::OptionalScalarRef(&*value) : at::OptionalScalarRef();
}

}  // namespace openreg
