// Bindings of generators; see docs/runtime/generator.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg {

namespace py = pybind11;

inline void bind_random(py::module_& m) {
  m.def("_default_generator", &default_generator, py::arg("device"),
        "The generator used by operators which are given none; -1: current device.");
}

}  // namespace openreg
