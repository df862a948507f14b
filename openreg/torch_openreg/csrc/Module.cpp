// Python bindings of the backend: glue without logic; see docs/start/architecture.md.
#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/device/OpenRegRegistration.h"
#include "torch_openreg/csrc/BindDevices.h"
#include "torch_openreg/csrc/BindDistributed.h"
#include "torch_openreg/csrc/BindFallback.h"
#include "torch_openreg/csrc/BindHostMemory.h"
#include "torch_openreg/csrc/BindIpc.h"
#include "torch_openreg/csrc/BindMemory.h"
#include "torch_openreg/csrc/BindRandom.h"
#include "torch_openreg/csrc/BindStorage.h"
#include "torch_openreg/csrc/BindStreams.h"

namespace py = pybind11;

namespace {

py::module_::module_def definition;

}  // namespace

// LITERALINCLUDE START: INIT_MODULE
extern "C" C10_EXPORT PyObject* initOpenRegModule() {
  try {
    const std::string& error = openreg::Registration::error();
    if (!error.empty()) {
      throw std::runtime_error(error);
    }
    py::module_ m = py::module_::create_extension_module(
        "torch_openreg._C", "C++ half of torch_openreg.", &definition);
    openreg::bind_devices(m);
    openreg::bind_initialization(m);
    openreg::bind_random(m);
    openreg::bind_streams(m);
    openreg::bind_fallback(m);
    openreg::bind_host_memory(m);
    openreg::bind_storage(m);
    openreg::bind_ipc(m);
    openreg::bind_memory(m);
    openreg::bind_distributed(m);
    return m.release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  // LITERALINCLUDE END: INIT_MODULE
  return nullptr;
}
