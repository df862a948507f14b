// Arguments that may be missing, all on one device; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>

#include <optional>

#include "csrc/aten/native/KernelTensor.h"

namespace openreg {

// An optional tensor that is there but undefined counts as missing: torch passes both.
inline bool is_given(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

// The tensor, undefined if it is missing.
inline at::Tensor or_undefined(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? *tensor : at::Tensor();
}

// For a kernel: as KernelTensor(), and as KernelTensor::input() if it is only read.
inline std::optional<KernelTensor> capture(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional<KernelTensor>(*tensor) : std::nullopt;
}
inline std::optional<KernelTensor> capture_input(
    const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional(KernelTensor::input(*tensor))
                          : std::nullopt;
}

// Inside a kernel; the tensor is undefined if it was missing.
inline at::Tensor on_device(const std::optional<KernelTensor>& tensor) {
  return tensor.has_value() ? tensor->on_device() : at::Tensor();
}

// Inside a kernel, for a function that asks whether the argument is there.
inline std::optional<at::Tensor> if_given(const std::optional<KernelTensor>& tensor) {
  return tensor.has_value() ? std::make_optional(tensor->on_device()) : std::nullopt;
}

// Inside a kernel: writes `values` to an output, unless nobody asked for it.
inline void copy_if_wanted(const std::optional<KernelTensor>& output,
                           const at::Tensor& values) {
  if (output.has_value()) {
    output->on_device().copy_(values);
  }
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
