// Arguments that may be missing, all on one device; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>

#include <optional>

#include "csrc/aten/launch/KernelTensorArg.h"

namespace openreg {

// An optional tensor that is there but undefined counts as missing: torch passes both.
inline bool is_given(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

// The tensor, undefined if it is missing.
inline at::Tensor or_undefined(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? *tensor : at::Tensor();
}

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

// Throws what torch's own kernels throw if the tensors, of which some may be missing,
// are not all on one device. Torch checks that for the kernels which it generates,
// never for those that a backend registers.
template <class... Tensors>
void check_same_device(const char* name, const Tensors&... tensors) {
  std::optional<c10::Device> device;
  (c10::impl::check_and_update_common_device(device, tensors, name, "tensors"), ...);
}

}  // namespace openreg
