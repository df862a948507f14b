// Products with weights of 4 bits and with float8; see docs/modules/four-bits.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_packed_products(torch::Library& m);

}  // namespace openreg
