// The tensors among the arguments of an operator, and their device; see
// docs/operators/registration.md.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>

#include <optional>

#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

// An optional tensor that has a value but is undefined counts as missing, because torch
// passes both.
inline bool is_given(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

// The tensor, undefined if it is missing.
inline at::Tensor or_undefined(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? *tensor : at::Tensor();
}

// Calls `visit` with each tensor of an argument, except missing tensors.
template <class Visit, class Other>
void visit_tensors(const Visit&, const Other&) {}
template <class Visit>
void visit_tensors(const Visit& visit, const at::Tensor& tensor) {
  if (tensor.defined()) {
    visit(tensor);
  }
}
template <class Visit>
void visit_tensors(const Visit& visit, const std::optional<at::Tensor>& tensor) {
  if (is_given(tensor)) {
    visit(*tensor);
  }
}
template <class Visit>
void visit_tensors(const Visit& visit, const at::OptionalTensorRef& tensor) {
  if (tensor.has_value()) {
    visit_tensors(visit, tensor.getTensorRef());
  }
}
template <class Visit>
void visit_tensors(const Visit& visit, const at::ITensorListRef& list) {
  for (const at::Tensor& tensor : list) {
    visit_tensors(visit, tensor);
  }
}
template <class Visit>
void visit_tensors(const Visit& visit, const at::TensorList& list) {
  for (const at::Tensor& tensor : list) {
    visit_tensors(visit, tensor);
  }
}
template <class Visit>
void visit_tensors(const Visit& visit,
                   const c10::List<std::optional<at::Tensor>>& list) {
  for (const std::optional<at::Tensor>& tensor : list) {
    visit_tensors(visit, tensor);
  }
}
template <class Visit, class... Args>
void for_each_tensor(const Visit& visit, const Args&... args) {
  (visit_tensors(visit, args), ...);
}

// LITERALINCLUDE START: CHECK_SAME_DEVICE
// Throws the same error as torch's kernels unless all tensors among the arguments are
// on one device. Torch checks this for generated kernels, but not for kernels that a
// backend registers. Returns the device, if there is a tensor.
template <class... Args>
std::optional<c10::Device> check_same_device(const char* name, const Args&... args) {
  std::optional<c10::Device> device;
  for_each_tensor(
      [&](const at::Tensor& tensor) {
        c10::impl::check_and_update_common_device(device, tensor, name, "tensors");
      },
      args...);
  return device;
}
// LITERALINCLUDE END: CHECK_SAME_DEVICE

// The index of the first tensor's device: numbers may come from the CPU.
template <class... Args>
DeviceIndex first_device(const char* name, const Args&... args) {
  std::optional<DeviceIndex> index;
  for_each_tensor(
      [&](const at::Tensor& tensor) {
        if (!index.has_value() && tensor.is_privateuseone()) {
          index = tensor.device().index();
        }
      },
      args...);
  TORCH_CHECK(index.has_value(), "openreg: ", name,
              " was called without a tensor on the openreg device; move one with ",
              ".to('openreg')");
  return *index;
}

}  // namespace openreg
