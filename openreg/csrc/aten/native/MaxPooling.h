// Maximum pooling over volumes, and its inverse; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_max_pooling(torch::Library& m);

}  // namespace openreg
