// A tensor as device code gets it: address and shape; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/SizesAndStrides.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <complex>
#include <memory>

#include "csrc/Export.h"

namespace openreg::cpu {

// What the device does with a tensor: reads it, writes its elements, or, with a sparse
// tensor, whatever it likes with a copy. ATen resizes a sparse tensor that it writes.
enum class Access : uint8_t { Read, Write, Copy };

// What a launch keeps of an at::Tensor until it runs: plain data. It does not keep the
// memory alive. As on CUDA, the order of the stream does that: memory of a tensor that
// is freed after the launch is reused by later work of the same stream only.
class OPENREG_EXPORT TensorArg {
 public:
  // A tensor of the device, or a CPU tensor of no dimension, which is kept by value:
  // its owner may change it as soon as the launch has returned. RuntimeError for any
  // other, and for a tensor whose storage is too small for its sizes and strides.
  TensorArg(const at::Tensor& tensor, Access access);
  TensorArg(TensorArg&&) noexcept;
  ~TensorArg();

  // In device code, while this object lives: a CPU tensor over the device's side of the
  // memory. Undefined if the tensor was.
  at::Tensor alias() const;

  // The same for each argument that was the same tensor.
  const void* identity() const { return identity_; }
  // Whether arguments that are one tensor must be one for ATen: it is written, or
  // sparse.
  bool is_shared() const { return access_ != Access::Read || sparse_ != nullptr; }

 private:
  struct Sparse;
  using LargestNumber = std::complex<double>;

  at::Tensor sparse_alias() const;

  const void* identity_;
  const void* address_ = nullptr;
  size_t bytes_ = 0;
  c10::impl::SizesAndStrides shape_;
  std::unique_ptr<const Sparse> sparse_;
  at::ScalarType dtype_ = at::ScalarType::Undefined;
  Access access_;
  bool conj_ = false;
  bool neg_ = false;
  bool on_host_ = false;         // the value is in `number_`, not in device memory
  bool wrapped_number_ = false;  // of Python or C++, which gives way in promotions
  alignas(LargestNumber) std::array<std::byte, sizeof(LargestNumber)> number_;
};

}  // namespace openreg::cpu
