// Launches a kernel that fills a tensor with random numbers; see
// docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/RandomSource.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {

// Comes behind kTypes, kPlacement and kPhilox. T is the tag of the dtype, and WORDS how
// many random words an element takes: a work item makes the elements of one block.
// Element i gets the words from WORDS * i on, whatever the strides of the tensor.
// LITERALINCLUDE START: FOR_EACH_DRAW
inline constexpr const char* kDraws = R"(
#define FOR_EACH_DRAW(DO)                                              \
  const uint4 block = philox(start(random, of_graph), get_global_id(0)); \
  const uint all[4] = {block.x, block.y, block.z, block.w};            \
  for (int i = 0; i < 4 / WORDS; ++i) {                                \
    const long n = get_global_id(0) * (4 / WORDS) + i;                 \
    const uint* words = all + WORDS * i;                               \
    if (n < placement.count) {                                         \
      const Places places = places_of(&placement, n);                  \
      DO                                                               \
    }                                                                  \
  }
)";
// LITERALINCLUDE END: FOR_EACH_DRAW

// A work item for each block of random words.
inline Range blocks(const Placement& placement, int64_t words) {
  return Range({(placement.count * words + 3) / 4});
}

}  // namespace ocl::opencl
