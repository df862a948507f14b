// Lets other Python threads run while a binding waits; see
// docs/runtime/memory-streams.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace openreg {

// For each binding that may wait: for kernels, for memory, for other ranks. Otherwise
// no other Python thread runs meanwhile, and the wait may be for one of these.
using NoGil = pybind11::call_guard<pybind11::gil_scoped_release>;

}  // namespace openreg
