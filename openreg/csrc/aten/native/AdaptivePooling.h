// Adaptive average pooling; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_adaptive_pooling(torch::Library& m);

}  // namespace openreg
