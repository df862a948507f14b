// Bindings of storages and tags; see docs/runtime/storage-tags.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/memory/OpenRegSerialization.h"
#include "csrc/runtime/memory/OpenRegStorage.h"

namespace openreg {

namespace py = pybind11;

inline void bind_storage(py::module_& m) {
  m.def(
      "_storage_id",
      [](const at::Tensor& tensor) { return storage_id(tensor.storage()); },
      py::arg("tensor"));
  m.def("_tensor_tags", &tensor_tags, py::arg("tensor"));
  m.def("_set_tensor_tags", &set_tensor_tags, py::arg("tensor"), py::arg("tags"));
}

}  // namespace openreg
