// Cuts images into the columns of a matrix, and back; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_im2col(torch::Library& m);

}  // namespace openreg
