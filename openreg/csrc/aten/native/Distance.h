// Distances between rows; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_distance(torch::Library& m);

}  // namespace openreg
