// The random engine: torch's Philox 4x32-10, a counter in, bits out; see
// docs/runtime/generator.md.
#pragma once

#include <ATen/core/PhiloxRNGEngine.h>

#include <array>
#include <cstdint>

namespace openreg {

// LITERALINCLUDE START: PHILOX
using PhiloxBlock = std::array<uint32_t, 4>;

// Encrypts a counter of 128 bits with the seed as its key. No state passes from one
// block to the next, so every thread computes any block at once.
inline PhiloxBlock philox(uint64_t seed, uint64_t low, uint64_t high) {
  at::Philox4_32 engine(seed, high, low);
  return {engine(), engine(), engine(), engine()};
}
// LITERALINCLUDE END: PHILOX

// The blocks that `elements` of `words` random words each take. The host reserves as
// many before the launch.
inline uint64_t blocks_for(int64_t elements, int64_t words) {
  return static_cast<uint64_t>((elements * words + 3) / 4);
}

}  // namespace openreg
