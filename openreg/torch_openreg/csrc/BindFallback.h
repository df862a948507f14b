// Bindings of the fallback; see docs/operators/fallback.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/aten/ops/Fallback.h"

namespace openreg {

namespace py = pybind11;

inline void bind_fallback(py::module_& m) {
  m.def("_set_fallback_mode", &set_fallback_mode, py::arg("mode"));
  m.def("_fallback_mode", &fallback_mode);
  m.def("_fallback_counts", &fallback_counts);
  m.def("_reset_fallback_counts", &reset_fallback_counts);
}

}  // namespace openreg
