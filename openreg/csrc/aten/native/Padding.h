// Padding by reflection and replication; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

// Registers the operators that have no structured meta function, and those whose CPU
// kernel changes the strides that it asked for.
void register_padding(torch::Library& m);

}  // namespace openreg
