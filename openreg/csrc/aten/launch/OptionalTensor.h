// Arguments that may be missing, all on one device; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "csrc/aten/TensorArguments.h"
#include "csrc/aten/launch/KernelTensorArg.h"

namespace openreg {

// For a kernel: as KernelTensorArg(), and as KernelTensorArg::input() if it is only
// read. Neither takes a temporary.
inline std::optional<KernelTensorArg> capture(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional<KernelTensorArg>(*tensor) : std::nullopt;
}
inline std::optional<KernelTensorArg> capture(const at::Tensor& tensor) {
  return tensor.defined() ? std::make_optional<KernelTensorArg>(tensor) : std::nullopt;
}
std::optional<KernelTensorArg> capture(std::optional<at::Tensor>&&) = delete;
std::optional<KernelTensorArg> capture(at::Tensor&&) = delete;

inline std::optional<KernelTensorArg> capture_input(
    const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional(KernelTensorArg::input(*tensor))
                          : std::nullopt;
}
inline std::optional<KernelTensorArg> capture_input(const at::Tensor& tensor) {
  return tensor.defined() ? std::make_optional(KernelTensorArg::input(tensor))
                          : std::nullopt;
}
std::optional<KernelTensorArg> capture_input(std::optional<at::Tensor>&&) = delete;
std::optional<KernelTensorArg> capture_input(at::Tensor&&) = delete;

// Inside a kernel; the tensor is undefined if it was missing.
inline at::Tensor alias(const std::optional<KernelTensorArg>& tensor) {
  return tensor.has_value() ? tensor->alias() : at::Tensor();
}

// Inside a kernel, for a function that tests whether the argument is there.
inline std::optional<at::Tensor> if_given(
    const std::optional<KernelTensorArg>& tensor) {
  return tensor.has_value() ? std::make_optional(tensor->alias()) : std::nullopt;
}

}  // namespace openreg
