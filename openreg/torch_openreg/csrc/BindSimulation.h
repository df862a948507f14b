// Bindings of what only a simulated device has; see docs/runtime/errors.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/device/AutogradExit.h"
#include "csrc/kernels/cpu/Simulator.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

// VENDOR: drop these functions but _drain_autograd_threads
// They belong to files of csrc/simulator that openreg/csrc/README.md lets you delete.
inline void bind_simulation(pybind11::module_& m) {
  using pybind11::arg;
  m.def("_drain_autograd_threads", &drain_autograd_threads, NoGil(),
        "Waits until autograd's threads have let go of all backward passes.");
  m.def("_sim_hold", &sim_hold, arg("stream"));
  m.def("_sim_release", &sim_release, arg("stream"));
  m.def("_sim_set_delay", &sim_set_delay, arg("microseconds"), arg("seed"));
  m.def("_sim_delay", &sim_delay, "Microseconds and seed.");
  m.def("_sim_fail_kernel", &sim_fail_kernel, arg("name"), arg("after"));
  m.def("_sim_fail_allocation", &sim_fail_allocation, arg("count"));
  m.def("_sim_reset", &sim_reset, NoGil());
}

}  // namespace openreg
