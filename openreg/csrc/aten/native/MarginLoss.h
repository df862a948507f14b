// Losses with a margin; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_margin_losses(torch::Library& m);

}  // namespace openreg
