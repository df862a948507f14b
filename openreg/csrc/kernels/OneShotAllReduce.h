// A kernel that adds the parts of all ranks; see docs/modules/symmetric-memory.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "csrc/kernels/SymmetricMemory.h"

namespace openreg::kernels {

// Launches a kernel that writes the sum of `parts` to `out`: one part for each rank, in
// memory that every rank reads, all of the shape and dtype of `out`. Every rank reaches
// `before` when its part is complete, and `after` when it has read all parts.
void one_shot_all_reduce(const std::vector<at::Tensor>& parts, const SignalPad& before,
                         const SignalPad& after, const at::Tensor& out);

}  // namespace openreg::kernels
