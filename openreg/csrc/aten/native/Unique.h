// Distinct values; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_unique(torch::Library& m);

}  // namespace openreg
