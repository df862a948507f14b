// Makes ranges of numbers; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_ranges(torch::Library& m);

}  // namespace openreg
