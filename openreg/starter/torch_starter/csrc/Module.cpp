// Python bindings: glue without logic; see docs/start/first-backend.md.
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/device/AutogradExit.h"
#include "csrc/runtime/device/StarterFunctions.h"

// LITERALINCLUDE START: STARTER_MODULE
namespace {

void bind(pybind11::module_& m) {
  m.def("_initialize", [] {
    starter::initialize();
    // Makes torch call _lazy_init() again in a forked child, where it raises.
    torch::utils::register_fork_handler_for_device_init(at::kPrivateUse1);
  });
  m.def("_is_initialized", &starter::is_initialized);
  m.def("_is_in_bad_fork", &starter::is_in_bad_fork);
  m.def("_device_count", &starter::device_count);
  m.def("_drain_autograd_threads", &starter::drain_autograd_threads,
        pybind11::call_guard<pybind11::gil_scoped_release>());
}

}  // namespace

extern "C" STARTER_EXPORT PyObject* initStarterModule() {
  static pybind11::module_::module_def definition;
  auto m = pybind11::module_::create_extension_module("torch_starter._C", nullptr,
                                                      &definition);
  bind(m);
  return m.release().ptr();
}
// LITERALINCLUDE END: STARTER_MODULE
