// Bindings of streams; see docs/runtime/stream.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/Sleep.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

namespace py = pybind11;

inline void bind_streams(py::module_& m) {
  m.def(
      "_external_stream",
      [](int64_t handle, c10::DeviceIndex device) {
        return external_stream(reinterpret_cast<orStream_t>(handle), device);
      },
      py::arg("handle"), py::arg("device"),
      "A driver's stream; throws if it is not a live stream of the device.");
  py::class_<StreamSwitch>(m, "_StreamSwitch")
      .def("back", &switch_back, "Makes current what was so before the switch.");
  m.def("_switch_to", &switch_to, py::arg("stream"),
        "Makes a stream and its device current; what takes that back.");
  m.def("_sleep", &sleep, py::arg("cycles"), NoGil(),
        "Keeps the current stream busy for so many nanoseconds.");
  m.def("_stream_priority", &priority, py::arg("stream"));
  m.def("_stream_priority_range", &priority_range, "Least and greatest.");
}

}  // namespace openreg
