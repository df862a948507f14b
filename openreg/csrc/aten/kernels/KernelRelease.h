// What the kernels of later releases of torch do in another way; see
// docs/ship/upgrading.md.
#pragma once

#include <torch/headeronly/version.h>

namespace openreg {

// torch 2.15: a limit beyond the dtype of a tensor of integers is cut to its range.
constexpr bool kClampTakesAnyNumber =
    TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 15;

}  // namespace openreg
