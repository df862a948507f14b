// Random words to normally distributed numbers; see docs/runtime/random-kernels.md.
#pragma once

#include <array>
#include <cstdint>

#include "csrc/kernels/cpu/RandomKernel.h"

namespace openreg::cpu {

template <class C>
using NormalTile = std::array<C, kTileWords / kWordsFor<C>>;

// Makes `count` numbers, normally distributed around 0 with standard deviation 1, in
// pairs: an odd count writes one more. Element i has the words from kWordsFor<C> * i
// on, and its pair those of i ^ 1.
void box_muller(const uint32_t* words, int64_t count, float* values);
void box_muller(const uint32_t* words, int64_t count, double* values);

}  // namespace openreg::cpu
