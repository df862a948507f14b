// Random numbers in OpenCL C: the engine, and which element uses which random bits; see
// docs/opencl/kernels.md.
#pragma once

#include "csrc/runtime/random/PhiloxState.h"

namespace ocl::opencl {

inline constexpr const char* kPhilox = R"(
// The result must not depend on whether a device has fused multiply and add.
#pragma OPENCL FP_CONTRACT OFF

// What the host reserved: see PhiloxKernelState. In a captured graph, each replay finds
// its own state at `of_graph`.
typedef struct { ulong seed, offset; } Random;

static Random start(Random given, global const ulong* of_graph) {
  if (of_graph != 0) {
    given.seed = of_graph[0];
    given.offset += of_graph[1];
  }
  return given;
}

// Philox 4x32-10: four random words for a counter. No state passes from one counter to
// the next, so each work item computes its own.
static uint4 philox(Random random, ulong block) {
  const ulong counter = random.offset + block;
  uint4 x = (uint4)((uint)counter, (uint)(counter >> 32), 0, 0);
  uint2 key = (uint2)((uint)random.seed, (uint)(random.seed >> 32));
  for (int round = 0; round < 10; ++round) {
    const uint high0 = mul_hi(0xD2511F53u, x.x), low0 = 0xD2511F53u * x.x;
    const uint high1 = mul_hi(0xCD9E8D57u, x.z), low1 = 0xCD9E8D57u * x.z;
    x = (uint4)(high1 ^ x.y ^ key.x, low1, high0 ^ x.w ^ key.y, low0);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return x;
}
)";

// The struct of kPhilox.
struct RandomStart {
  uint64_t seed, offset;

  explicit RandomStart(const PhiloxKernelState& random)
      : seed(random.state().seed), offset(random.state().offset) {}
};

// Random words to numbers. DIGITS are those of the dtype of the tensor, C the type of
// the computation: float, or double, which takes two words.
inline constexpr const char* kUnits = R"(
static ulong word64(const uint* words) { return (ulong)words[1] << 32 | words[0]; }

#ifdef WIDE  // double
// In [0, 1), with as many random bits as the dtype has digits.
static C unit(const uint* words) {
  return (C)(word64(words) >> (64 - DIGITS)) * ((C)1 / (C)(1UL << DIGITS));
}
// In (0, 1], with small steps near 0: has a logarithm.
static C positive_unit(const uint* words) {
  return (C)(word64(words) >> 11) * 0x1p-53 + 0x1p-54;
}
#else
static C unit(const uint* words) {
  return (C)(int)(words[0] >> (32 - DIGITS)) * (1.0f / (float)(1 << DIGITS));
}
static C positive_unit(const uint* words) {
  return (C)words[0] * 0x1p-32f + 0x1p-33f;
}
#endif
)";

}  // namespace ocl::opencl
