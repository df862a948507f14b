// The random engine: Philox 4x32-10, a counter in, bits out; see
// docs/runtime/generator.md.
#pragma once

#include <array>
#include <cstdint>

namespace openreg {

// LITERALINCLUDE START: PHILOX
// Philox of Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).
// It encrypts a counter of 128 bits with the seed as its key. There is no state that
// one number would hand on to the next: every thread computes any of them at once.
using PhiloxBlock = std::array<uint32_t, 4>;

constexpr PhiloxBlock philox(uint64_t seed, uint64_t low, uint64_t high) {
  uint32_t x0 = static_cast<uint32_t>(low);
  uint32_t x1 = static_cast<uint32_t>(low >> 32);
  uint32_t x2 = static_cast<uint32_t>(high);
  uint32_t x3 = static_cast<uint32_t>(high >> 32);
  uint32_t key0 = static_cast<uint32_t>(seed);
  uint32_t key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * x0;
    const uint64_t product1 = uint64_t{0xCD9E8D57} * x2;
    x0 = static_cast<uint32_t>(product1 >> 32) ^ x1 ^ key0;
    x1 = static_cast<uint32_t>(product1);
    x2 = static_cast<uint32_t>(product0 >> 32) ^ x3 ^ key1;
    x3 = static_cast<uint32_t>(product0);
    key0 += 0x9E3779B9;  // the golden ratio
    key1 += 0xBB67AE85;  // the square root of 3, less 1
  }
  return {x0, x1, x2, x3};
}
// LITERALINCLUDE END: PHILOX

// LITERALINCLUDE START: PHILOX_KNOWN_ANSWERS
// The answers that the authors publish with the algorithm. The compiler checks them.
static_assert(philox(0, 0, 0) ==
              PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox(~0ULL, ~0ULL, ~0ULL) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
              PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
// LITERALINCLUDE END: PHILOX_KNOWN_ANSWERS

}  // namespace openreg
