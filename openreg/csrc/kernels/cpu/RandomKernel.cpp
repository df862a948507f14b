// Makes many random words at once; see docs/runtime/random-kernels.md.
#include "csrc/kernels/cpu/RandomKernel.h"

#include <algorithm>
#include <array>

namespace openreg::cpu {
namespace {

// So many blocks side by side: the compiler turns each inner loop into vector code.
constexpr int kLanes = 16;
using Lanes = std::array<uint32_t, kLanes>;

// The same as kLanes calls of philox(), for successive counters.
void philox_lanes(uint64_t seed, uint64_t counter, uint32_t* words) {
  Lanes x0;
  Lanes x1;
  Lanes x2{};
  Lanes x3{};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    x0[lane] = static_cast<uint32_t>(counter + lane);
    x1[lane] = static_cast<uint32_t>((counter + lane) >> 32);
  }
  auto key0 = static_cast<uint32_t>(seed);
  auto key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t product0 = uint64_t{0xD2511F53} * x0[lane];
      const uint64_t product1 = uint64_t{0xCD9E8D57} * x2[lane];
      x0[lane] = static_cast<uint32_t>(product1 >> 32) ^ x1[lane] ^ key0;
      x1[lane] = static_cast<uint32_t>(product1);
      x2[lane] = static_cast<uint32_t>(product0 >> 32) ^ x3[lane] ^ key1;
      x3[lane] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    words[4 * lane] = x0[lane];
    words[4 * lane + 1] = x1[lane];
    words[4 * lane + 2] = x2[lane];
    words[4 * lane + 3] = x3[lane];
  }
}

}  // namespace

void philox_words(PhiloxState state, uint64_t first, int64_t blocks, uint32_t* words) {
  uint64_t counter = state.offset + first;
  for (; blocks >= kLanes; blocks -= kLanes, counter += kLanes, words += 4 * kLanes) {
    philox_lanes(state.seed, counter, words);
  }
  for (; blocks > 0; --blocks, ++counter, words += 4) {
    const PhiloxBlock block = philox(state.seed, counter, 0);
    std::copy(block.begin(), block.end(), words);
  }
}

}  // namespace openreg::cpu
