// Activations without a structured meta function; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_gated_activations(torch::Library& m);

}  // namespace openreg
