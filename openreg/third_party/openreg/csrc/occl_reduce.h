// The arithmetic of reductions; see docs/modules/distributed.md.
#pragma once

#include <cstddef>
#include <vector>

#include "occl.h"

namespace openreg::occl {

bool is_valid(occlDataType_t dtype);
// Whether `op` is valid and can reduce numbers of `dtype`.
bool can_reduce(occlRedOp_t op, occlDataType_t dtype);
size_t size_of(occlDataType_t dtype);
const char* name_of(occlDataType_t dtype);  // "float32"
const char* name_of(occlRedOp_t op);        // "sum"

// Writes the reduction of `bytes` of each input, in their order. Each step rounds to
// `dtype`. No input may overlap `out`.
void reduce(occlDataType_t dtype, occlRedOp_t op, std::byte* out,
            const std::vector<const std::byte*>& inputs, size_t bytes);

}  // namespace openreg::occl
