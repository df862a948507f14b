// Sums, means and maxima of embeddings; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_embedding_bag(torch::Library& m);

}  // namespace openreg
