// Reductions and scans with more than one result, or that skip elements; see
// docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_moments(torch::Library& m);

}  // namespace openreg
