// Places in sorted values; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_bucketization(torch::Library& m);

}  // namespace openreg
