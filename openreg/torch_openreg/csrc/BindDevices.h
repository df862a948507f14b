// Bindings of devices and their start; see docs/runtime/device.md.
#pragma once

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/device/AutogradExit.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegInit.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

namespace py = pybind11;

inline void bind_devices(py::module_& m) {
  m.def("_device_count", &device_count, "Number of devices; 0 without driver.");
  m.def("_current_device", &current_device, "Index of the current device.");
  m.def("_set_device", &set_device, py::arg("device"),
        "Makes a device current. AcceleratorError if it does not exist.");
  m.def("_check_device_index", &check_device_index, py::arg("device"));
  m.def("_exchange_device", &exchange_device, py::arg("device"),
        "Makes a device current and returns the index of the one that was.");
  // wrap_pybind_function: what kernels warned goes to Python's warning filters.
  m.def("_synchronize", torch::wrap_pybind_function_no_gil(&synchronize),
        py::arg("device"),
        "Waits for all work on a device. torch.AcceleratorError if a kernel failed.");
  m.def(
      "_device_properties",
      [](c10::DeviceIndex device) {
        const orDeviceProp properties = device_properties(device);
        py::dict result;
        result["name"] = properties.name;
        result["total_memory"] = properties.totalGlobalMem;
        result["major"] = properties.major;
        result["minor"] = properties.minor;
        result["multi_processor_count"] = properties.multiProcessorCount;
        return result;
      },
      py::arg("device"), "Name, memory in bytes, version and processors of a device.");
}

// LITERALINCLUDE START: LAZY_INIT
inline void bind_initialization(py::module_& m) {
  m.def("_initialize", [] {
    initialize();
    // Makes torch call _lazy_init() again in a forked child, where it will raise.
    torch::utils::register_fork_handler_for_device_init(at::kPrivateUse1);
  });
  m.def("_is_initialized", &is_initialized);
  m.def("_is_in_bad_fork", &is_in_bad_fork);
  m.def("_drain_autograd_threads", &drain_autograd_threads, NoGil(),
        "Waits until autograd's threads have released all backward passes.");
}
// LITERALINCLUDE END: LAZY_INIT

}  // namespace openreg
