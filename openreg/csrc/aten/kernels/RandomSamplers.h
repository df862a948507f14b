// Distributions that try until a number fits; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg::kernels {

// The counters to reserve for a sampler, whatever the number of elements. An element
// takes a few dozen blocks of its own; that one takes as many will not happen.
constexpr uint64_t kSamplerBlocks = 1024;

// Each kernel fills `out`; all of its tensors have the same sizes and dtype. Infinite
// parameters and a negative `alpha` give infinity or NaN: a search would never end.
void poisson(const at::Tensor& out, PhiloxState random, const at::Tensor& rate);
void binomial(const at::Tensor& out, PhiloxState random, const at::Tensor& count,
              const at::Tensor& probability);

// Gamma with scale 1; the numbers are not 0.
void standard_gamma(const at::Tensor& out, PhiloxState random, const at::Tensor& alpha);

// Divides gamma numbers by the sum of their row, which is the last dimension. `gamma`
// is of float64 and contiguous as `out`; the results are neither 0 nor 1.
void dirichlet_of_gamma(const at::Tensor& gamma, const at::Tensor& out);

}  // namespace openreg::kernels
