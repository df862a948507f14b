// Integers, coins and permutations; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "csrc/runtime/random/PhiloxState.h"

namespace openreg::kernels {

// Each launches a kernel that fills `self` and takes two random words for an element.

// Integers, as every dtype that holds integers. The first kernel draws from 0 to the
// largest value of an integer dtype, to 2^digits of a floating point one.
void random_of_dtype(const at::Tensor& self, PhiloxKernelState random);
// In [from, from + range).
void random_in_range(const at::Tensor& self, PhiloxKernelState random, uint64_t range,
                     int64_t from);
// From the smallest int64 to the largest.
void random_of_64_bits(const at::Tensor& self, PhiloxKernelState random);

// 1 with probability `p`, else 0. The tensor is float64, of the sizes of `self`.
void bernoulli(const at::Tensor& self, PhiloxKernelState random, double p);
void bernoulli_tensor(const at::Tensor& self, PhiloxKernelState random,
                      const at::Tensor& p);

// The number of throws up to the first head, at least 1; a head has probability `p`.
void geometric(const at::Tensor& self, PhiloxKernelState random, double p);

// A permutation of the numbers from 0 on; `self` has one dimension.
void randperm(const at::Tensor& self, PhiloxKernelState random);

}  // namespace openreg::kernels
