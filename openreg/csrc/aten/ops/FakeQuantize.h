// The host half of fake quantization; see docs/modules/fake-quantize.md.
#pragma once

#include <torch/library.h>

namespace openreg {

void register_fake_quantize(torch::Library& m);

}  // namespace openreg
