// A tensor as a kernel sees it: address, shape; see docs/operators/registration.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include "csrc/Export.h"

namespace openreg {

// What a launch hands to a kernel instead of an at::Tensor: plain data, copied by
// value. It does not keep the memory alive. As on CUDA, the order of the stream does
// that: the memory of a tensor that dies after the launch is reused by later work of
// the same stream only.
class OPENREG_EXPORT KernelTensor {
 public:
  // `tensor` is on the openreg device, or is a CPU tensor of no dimension, which is
  // then captured by value: the caller may change it as soon as the launch has
  // returned.
  explicit KernelTensor(const at::Tensor& tensor);

  // Inside a kernel: a CPU tensor over the device's side of the memory. This is where
  // OpenReg's device borrows ATen's CPU kernels; your device passes address and sizes.
  at::Tensor on_device() const;

 private:
  void* address_ = nullptr;
  size_t bytes_ = 0;
  c10::DimVector sizes_;
  c10::DimVector strides_;
  at::ScalarType dtype_;
  bool conj_ = false;
  bool neg_ = false;
  at::Tensor host_scalar_;  // defined: use this instead of the address
};

// Throws if the storage of `tensor` is smaller than its sizes and strides need, as
// after untyped_storage().resize_(0): a kernel would write into the memory of other
// tensors.
void check_storage(const at::Tensor& tensor);

}  // namespace openreg
