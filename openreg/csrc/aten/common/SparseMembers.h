// The dense tensors inside a sparse tensor; see docs/operators/sparse.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace openreg {

// Indices and values of a COO tensor, the two index tensors and the values of a
// compressed one. A dense tensor has itself as its only member.
using Members = c10::SmallVector<at::Tensor, 3>;
Members members_of(const at::Tensor& tensor);

// Gives the sparse tensor `out` the sizes and the members of `like`; `members` are
// those of `like`, on the device of `out`.
void set_members(const at::Tensor& out, const at::Tensor& like, const Members& members);

}  // namespace openreg
