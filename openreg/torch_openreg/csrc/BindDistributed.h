// Bindings of the process group; see docs/modules/distributed-failures.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/distributed/ProcessGroupOCCL.h"
#include "torch_openreg/csrc/BindFlightRecorder.h"
#include "torch_openreg/csrc/NoGil.h"

// LITERALINCLUDE START: NO_GIL_HOLDER
namespace openreg {

// Releases an object without the GIL, as torch does for its process groups, because
// their destructors wait for threads and for other ranks.
template <class T>
class ReleasedWithoutGil {
 public:
  explicit ReleasedWithoutGil(T* object)
      : object_(c10::intrusive_ptr<T>::unsafe_steal_from_new(object)) {}
  explicit ReleasedWithoutGil(c10::intrusive_ptr<T> object)
      : object_(std::move(object)) {}
  ReleasedWithoutGil(const ReleasedWithoutGil&) = default;
  ReleasedWithoutGil& operator=(const ReleasedWithoutGil&) = default;
  ~ReleasedWithoutGil() {
    if (object_ && PyGILState_Check() != 0) {
      const pybind11::gil_scoped_release no_gil;
      object_.reset();
    }
  }
  T* get() const noexcept { return object_.get(); }
  T* operator->() const noexcept { return object_.get(); }

 private:
  c10::intrusive_ptr<T> object_;  // alone: pybind11 takes it for a base class's holder
};

}  // namespace openreg
PYBIND11_DECLARE_HOLDER_TYPE(T, openreg::ReleasedWithoutGil<T>, true)
// LITERALINCLUDE END: NO_GIL_HOLDER

namespace openreg {

namespace py = pybind11;

// LITERALINCLUDE START: BIND_OCCL
inline void bind_distributed(py::module_& m) {
  using Group = ReleasedWithoutGil<ProcessGroupOCCL>;
  py::class_<ProcessGroupOCCL, Group, c10d::Backend>(
      m, "ProcessGroupOCCL", "Collectives of openreg tensors, with the library OCCL.")
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store,
                       const c10::intrusive_ptr<c10d::Backend>& host) {
             return Group(c10::make_intrusive<ProcessGroupOCCL>(store, host));
           }),
           py::arg("store"), py::arg("host"), NoGil())  // (1)
      .def_property_readonly(
          "options",
          [](ProcessGroupOCCL& self) {
            return py::module_::import("torch_openreg.openreg._distributed")
                .attr("_options")(self.getBackendOptions());
          })
      .def("get_error", &ProcessGroupOCCL::getError)
      .def(
          "perform_nocolor_split", [](ProcessGroupOCCL&, const py::object&) {},
          py::arg("device"), "Called on ranks that a new group leaves out.");
  bind_flight_recorder(m);
}
// LITERALINCLUDE END: BIND_OCCL

}  // namespace openreg
