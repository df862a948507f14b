// A tensor as a kernel gets it: address, shape; see docs/operators/launch.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/SizesAndStrides.h>

#include <array>
#include <complex>

#include "csrc/Export.h"
#include "csrc/aten/TensorMemory.h"

namespace openreg {

// What a launch passes to a kernel instead of an at::Tensor: plain data, copied by
// value. It does not keep the memory alive. As on CUDA, the order of the stream does
// that: the memory of a tensor freed after the launch is reused by later work of
// the same stream only.
class OPENREG_EXPORT KernelTensorArg {
 public:
  // For a tensor that the kernel may write. `tensor` is on the openreg device, or is a
  // CPU tensor of no dimension, which is then captured by value: the caller may change
  // it as soon as the launch has returned.
  explicit KernelTensorArg(const at::Tensor& tensor) : KernelTensorArg(tensor, true) {}
  // A temporary is freed before the launch: another thread may get its memory and write
  // there first. Name it, and keep it until the launch has returned.
  explicit KernelTensorArg(at::Tensor&&) = delete;

  // For a tensor that the kernel only reads: memory that lazy clones share stays
  // shared. Where a kernel works in place, capture the tensor that it writes first.
  static KernelTensorArg input(const at::Tensor& tensor) { return {tensor, false}; }
  static KernelTensorArg input(at::Tensor&&) = delete;

  // Inside a kernel, while this object lives: a CPU tensor over the device's side of
  // the memory. This is where OpenReg's device borrows ATen's CPU kernels; your device
  // passes address and sizes.
  at::Tensor alias() const;

 private:
  KernelTensorArg(const at::Tensor& tensor, bool writable);

  using LargestNumber = std::complex<double>;

  const void* address_ = nullptr;
  size_t bytes_ = 0;
  c10::impl::SizesAndStrides shape_;
  at::ScalarType dtype_;
  bool conj_;
  bool neg_;
  bool on_host_;         // the value is in `number_`, not in device memory
  bool wrapped_number_;  // a number of Python or C++, which gives way in promotions
  alignas(LargestNumber) std::array<std::byte, sizeof(LargestNumber)> number_;
};

}  // namespace openreg
