// Samples images at the places of a grid; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_grid_sampler(torch::Library& m);

}  // namespace openreg
