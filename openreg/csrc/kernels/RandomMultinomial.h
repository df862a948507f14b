// Draws of indices by their probabilities; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/runtime/random/PhiloxState.h"

namespace openreg::kernels {

// Each launches a kernel. `rows` and `sums` are contiguous tensors of float64: a row
// for each distribution, with an element for each category. `out`, of int64, has a row
// of samples for each of them.

// Sums each row up from its start, in place, and writes its whole sum to `totals`.
void cumulate_rows(const at::Tensor& rows, const at::Tensor& totals);

// Draws independent samples from the sums; a sample takes two random words.
void multinomial_with_replacement(const at::Tensor& sums, PhiloxKernelState random,
                                  const at::Tensor& out);

// Draws different samples from the probabilities in `rows`; a category takes two random
// words. Overwrites `rows` and `order`, which is of int64 and has the same sizes.
void multinomial_without_replacement(const at::Tensor& rows, PhiloxKernelState random,
                                     const at::Tensor& order, const at::Tensor& out);

}  // namespace openreg::kernels
