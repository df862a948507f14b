// Bindings of memory that processes share; see docs/frontend/ipc.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/ipc/OpenRegIpc.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

namespace py = pybind11;

inline void bind_ipc(py::module_& m) {
  m.def(
      "_ipc_send",
      [](const at::Storage& storage) {
        std::string message;
        {
          const py::gil_scoped_release no_gil;
          message = ipc_send(storage);
        }
        return py::bytes(message);
      },
      py::arg("storage"));
  m.def("_ipc_receive", &ipc_receive, py::arg("message"), NoGil());
  m.def("_ipc_collect", &ipc_collect, NoGil());
}

}  // namespace openreg
