// Updates in place of elements that an index or a mask selects; see
// docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_indexed_updates(torch::Library& m);

}  // namespace openreg
