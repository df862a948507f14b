// A tensor of any layout as a kernel gets it; see docs/operators/sparse.md.
#pragma once

#include <c10/util/SmallVector.h>

#include <functional>
#include <utility>

#include "csrc/aten/launch/KernelTensorArg.h"

namespace openreg {

// The dense tensors of which a sparse tensor is made: indices and values of a COO
// tensor, the two index tensors and the values of a compressed one. A dense tensor is
// its own only member.
using Members = c10::SmallVector<at::Tensor, 3>;
Members members_of(const at::Tensor& tensor);

// What a launch passes to a kernel instead of an at::Tensor of any layout: its members
// as KernelTensorArgs, and the properties of the whole that the host has.
// LITERALINCLUDE START: SPARSE_KERNEL_TENSOR
class SparseKernelTensorArg {
 public:
  // What the kernel may do: read the members, write their elements, or do with a copy
  // of them what it likes. ATen's CPU kernels resize a sparse tensor that they write.
  enum class Access : uint8_t { Read, Write, Copy };

  SparseKernelTensorArg(const at::Tensor& tensor, Access access);
  SparseKernelTensorArg(at::Tensor&&, Access) = delete;
  static SparseKernelTensorArg input(const at::Tensor& tensor) {
    return {tensor, Access::Read};
  }
  static SparseKernelTensorArg input(at::Tensor&&) = delete;

  // Inside a kernel: a CPU tensor of the same layout over the device's members.
  at::Tensor alias() const;

 private:
  friend class KernelArguments;
  const void* identity_;  // of the tensor for which this one stands
  c10::SmallVector<KernelTensorArg, 3> members_;
  c10::SmallVector<int64_t, 5> sizes_;
  Access access_;
  at::Layout layout_;
  at::ScalarType dtype_;
  int64_t sparse_dim_ = 0;  // of a COO tensor
  bool coalesced_ = false;
};
// LITERALINCLUDE END: SPARSE_KERNEL_TENSOR

// The tensors of one call, inside its kernel. What is one tensor for the caller is one
// for the kernel: torch asks for that, in x + x and in x.add_(y).
class KernelArguments {
 public:
  at::Tensor get(const SparseKernelTensorArg& tensor);

 private:
  c10::SmallVector<std::pair<const void*, at::Tensor>, 4> known_;
};

// Launches `compute`, which returns a CPU tensor of any layout, and brings that tensor
// to `device`. The host waits in between, because it must allocate the result and only
// the device has its number of elements. What `compute` throws, the host throws.
at::Tensor launch_and_wait(const char* name, c10::Device device,
                           std::function<at::Tensor()> compute);

// The same, into a sparse tensor of the same layout that the caller gave.
void launch_and_wait_into(const char* name, const at::Tensor& out,
                          std::function<at::Tensor()> compute);

// Launches `check`, which only reads; the host waits and throws what it throws.
void launch_check(const char* name, c10::Device device, std::function<void()> check);

// Gives the sparse tensor `out` the sizes and the members of `like`; `members` are
// those of `like`, on the device of `out`.
void set_members(const at::Tensor& out, const at::Tensor& like, const Members& members);

}  // namespace openreg
