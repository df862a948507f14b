// Python bindings of the backend: glue without logic; see docs/start/architecture.md.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>

#include <thread>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/distributed/ProcessGroupOCCL.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegInit.h"
#include "csrc/runtime/device/OpenRegRegistration.h"
#include "csrc/runtime/ipc/OpenRegIpc.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/memory/OpenRegHostAllocator.h"
#include "csrc/runtime/memory/OpenRegSerialization.h"
#include "csrc/runtime/memory/OpenRegStorage.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "torch_openreg/csrc/MemorySnapshot.h"
#include "torch_openreg/csrc/Simulation.h"

namespace py = pybind11;

// LITERALINCLUDE START: NO_GIL_HOLDER
// Lets go of an object without the GIL, as torch does with its own process groups:
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
      const py::gil_scoped_release no_gil;
      object_.reset();
    }
  }
  T* get() const noexcept { return object_.get(); }
  T* operator->() const noexcept { return object_.get(); }

 private:
  c10::intrusive_ptr<T> object_;  // alone: pybind11 takes it for a base class's holder
};
PYBIND11_DECLARE_HOLDER_TYPE(T, ReleasedWithoutGil<T>, true)
// LITERALINCLUDE END: NO_GIL_HOLDER

namespace {

// For each binding that may wait: for kernels, for memory, for other ranks. Otherwise
// no other Python thread goes on meanwhile, and the wait may be for one of these.
using NoGil = py::call_guard<py::gil_scoped_release>;

void bind_devices(py::module_& m) {
  m.def("_device_count", &openreg::device_count,
        "Number of devices; 0 without driver.");
  m.def("_current_device", &openreg::current_device, "Index of the current device.");
  m.def("_set_device", &openreg::set_device, py::arg("device"),
        "Makes a device current. AcceleratorError if it does not exist.");
  m.def("_check_device_index", &openreg::check_device_index, py::arg("device"));
  m.def("_exchange_device", &openreg::exchange_device, py::arg("device"),
        "Makes a device current and returns the index of the one that was.");
  // wrap_pybind_function: what kernels warned goes to Python's warning filters.
  m.def("_synchronize", torch::wrap_pybind_function_no_gil(&openreg::synchronize),
        py::arg("device"),
        "Waits for all work on a device. torch.AcceleratorError if a kernel failed.");
  m.def(
      "_device_properties",
      [](c10::DeviceIndex device) {
        const orDeviceProp properties = openreg::device_properties(device);
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
void bind_initialization(py::module_& m) {
  m.def("_initialize", [] {
    openreg::initialize();
    // Makes torch call _lazy_init() again in a forked child, where it will raise.
    torch::utils::register_fork_handler_for_device_init(at::kPrivateUse1);
  });
  m.def("_is_initialized", &openreg::is_initialized);
  m.def("_is_in_bad_fork", &openreg::is_in_bad_fork);
}
// LITERALINCLUDE END: LAZY_INIT

void bind_random(py::module_& m) {
  m.def("_default_generator", &openreg::default_generator, py::arg("device"),
        "The generator used by operators which are given none; -1: current device.");
}

void bind_streams(py::module_& m) {
  m.def(
      "_external_stream",
      [](int64_t handle, c10::DeviceIndex device) {
        return openreg::external_stream(reinterpret_cast<orStream_t>(handle), device);
      },
      py::arg("handle"), py::arg("device"),
      "A driver's stream; throws if it is not a live stream of the device.");
  m.def("_stream_priority", &openreg::priority, py::arg("stream"));
  m.def("_stream_priority_range", &openreg::priority_range, "Least and greatest.");
}

void bind_fallback(py::module_& m) {
  m.def("_set_fallback_mode", &openreg::set_fallback_mode, py::arg("mode"));
  m.def("_fallback_mode", &openreg::fallback_mode);
  m.def("_fallback_counts", &openreg::fallback_counts);
  m.def("_reset_fallback_counts", &openreg::reset_fallback_counts);
}

py::dict as_dict(const c10::CachingAllocator::Stat& stat) {
  py::dict result;
  result["current"] = stat.current;
  result["peak"] = stat.peak;
  result["allocated"] = stat.allocated;
  result["freed"] = stat.freed;
  return result;
}

py::dict as_dict(const c10::CachingAllocator::DurationStat& stat) {
  py::dict result;
  result["total"] = stat.total;
  result["max"] = stat.max;
  result["min"] = stat.min;
  result["count"] = stat.count;
  result["avg"] = stat.count == 0 ? 0 : stat.total / stat.count;
  return result;
}

void bind_host_memory(py::module_& m) {
  m.def("_host_memory_stats", [] {
    const at::HostStats stats = [] {
      const py::gil_scoped_release no_gil;
      return openreg::host_allocator().get_stats();
    }();
    py::dict result;
    result["active_requests"] = as_dict(stats.active_requests);
    result["active_bytes"] = as_dict(stats.active_bytes);
    result["allocations"] = as_dict(stats.allocations);
    result["allocated_bytes"] = as_dict(stats.allocated_bytes);
    result["num_host_alloc"] = stats.num_host_alloc;
    result["num_host_free"] = stats.num_host_free;
    result["host_alloc_time"] = as_dict(stats.host_alloc_time);
    result["host_free_time"] = as_dict(stats.host_free_time);
    return result;
  });
  m.def(
      "_reset_accumulated_host_memory_stats",
      [] { openreg::host_allocator().reset_accumulated_stats(); }, NoGil());
  m.def(
      "_reset_peak_host_memory_stats",
      [] { openreg::host_allocator().reset_peak_stats(); }, NoGil());
}

void bind_storage(py::module_& m) {
  m.def(
      "_storage_id",
      [](const at::Tensor& tensor) { return openreg::storage_id(tensor.storage()); },
      py::arg("tensor"));
  m.def("_tensor_tags", &openreg::tensor_tags, py::arg("tensor"));
  m.def("_set_tensor_tags", &openreg::set_tensor_tags, py::arg("tensor"),
        py::arg("tags"));
}

void bind_ipc(py::module_& m) {
  m.def(
      "_ipc_send",
      [](const at::Storage& storage) {
        std::string message;
        {
          const py::gil_scoped_release no_gil;
          message = openreg::ipc_send(storage);
        }
        return py::bytes(message);
      },
      py::arg("storage"));
  m.def("_ipc_receive", &openreg::ipc_receive, py::arg("message"), NoGil());
  m.def("_ipc_collect", &openreg::ipc_collect, NoGil());
}

openreg::OpenRegDeviceAllocator& allocator() {
  return openreg::OpenRegDeviceAllocator::get();
}

// Starts or stops the history; arguments as torch.openreg._record_memory_history().
void record_memory_history(bool enabled, bool trace, openreg::RecordContext stacks_for,
                           bool with_cpp, size_t max_entries, bool clear,
                           const std::vector<std::string>& skip_actions) {
  openreg::HistorySettings settings;
  if (enabled) {
    settings.trace = trace;
    settings.when = stacks_for;
    using Context = std::shared_ptr<c10::GatheredContext>;
    const auto python = +[]() -> Context {
      return torch::CapturedTraceback::gather(/*python=*/true, /*script=*/true, false);
    };
    const auto all = +[]() -> Context {
      return torch::CapturedTraceback::gather(true, true, /*cpp=*/true);
    };
    settings.context = with_cpp ? all : python;
    settings.max_entries = max_entries;
    for (const std::string& action : skip_actions) {
      settings.skip.insert(c10::CachingDeviceAllocator::parseTraceEntryAction(action));
    }
  }
  const py::gil_scoped_release without_gil;
  allocator().record_history(std::move(settings), clear);
}

void bind_memory(py::module_& m) {
  using c10::DeviceIndex;
  using Pool = c10::MempoolId_t;
  m.def(
      "_empty_cache", [](Pool pool) { allocator().emptyCache(pool); },
      py::arg("pool") = Pool{0, 0}, NoGil());
  m.def(
      "_memory_fraction",
      [](DeviceIndex device) { return allocator().cache_of(device).fraction(); },
      py::arg("device"));
  m.def(
      "_set_memory_fraction",
      [](double fraction, DeviceIndex device) {
        allocator().cache_of(device).set_fraction(fraction);
      },
      py::arg("fraction"), py::arg("device"));
  m.def(
      "_caching_allocator_alloc",
      [](size_t bytes) {
        return reinterpret_cast<uintptr_t>(allocator().raw_allocate(bytes));
      },
      py::arg("bytes"), NoGil(), "On the current device, for its current stream.");
  m.def(
      "_caching_allocator_delete",
      [](uintptr_t address) {
        allocator().raw_deallocate(reinterpret_cast<void*>(address));
      },
      py::arg("address"), NoGil());
  m.def("_new_memory_pool", &openreg::OpenRegDeviceAllocator::new_pool);
  m.def(
      "_retain_memory_pool",
      [](DeviceIndex device, Pool pool) {
        allocator().cache_of(device).retain_pool(pool);
      },
      py::arg("device"), py::arg("pool"), NoGil());
  m.def(
      "_release_memory_pool",
      [](DeviceIndex device, Pool pool) {
        allocator().cache_of(device).release_pool(pool);
      },
      py::arg("device"), py::arg("pool"), NoGil());
  m.def(
      "_begin_allocate_to_pool",
      [](DeviceIndex device, Pool pool) {
        const auto owner = std::this_thread::get_id();
        allocator().cache_of(device).begin_pool(pool, [owner](const c10::Stream&) {
          return std::this_thread::get_id() == owner;
        });
      },
      py::arg("device"), py::arg("pool"), NoGil(), "For the calling thread only.");
  m.def(
      "_end_allocate_to_pool",
      [](DeviceIndex device, Pool pool) {
        allocator().cache_of(device).end_pool(pool);
      },
      py::arg("device"), py::arg("pool"), NoGil());
  m.def(
      "_private_pool_bytes",
      [](DeviceIndex device) {
        std::map<Pool, std::array<int64_t, 4>> bytes;
        const auto stats = allocator().getDeviceStats(device);
        for (const auto& [pool, array] : stats.reserved_bytes_by_private_pools) {
          bytes[pool] = {array[0].current, array[0].peak, array[0].allocated,
                         array[0].freed};
        }
        return bytes;
      },
      py::arg("device"), "Reserved by each private pool: current, peak, total, freed.");
  m.def(
      "_memory_bytes",
      [](DeviceIndex device) {
        const auto stats = allocator().getDeviceStats(device);
        const auto &allocated = stats.allocated_bytes[0],
                   &reserved = stats.reserved_bytes[0];
        return std::array{allocated.current, allocated.peak, reserved.current,
                          reserved.peak};
      },
      py::arg("device"), "Allocated, most allocated, reserved, most reserved.");
  m.def("_memory_snapshot", [] {
    openreg::MemorySnapshot snapshot;
    {
      const py::gil_scoped_release without_gil;
      snapshot = allocator().snapshot();
    }
    return openreg::to_python(snapshot);
  });
  m.def(
      "_record_memory_history",
      [](bool enabled, bool trace, int stacks_for, bool with_cpp, size_t max_entries,
         bool clear, const std::vector<std::string>& skip_actions) {
        record_memory_history(enabled, trace,
                              static_cast<openreg::RecordContext>(stacks_for), with_cpp,
                              max_entries, clear, skip_actions);
      },
      py::arg("enabled"), py::arg("trace"), py::arg("stacks_for"), py::arg("with_cpp"),
      py::arg("max_entries"), py::arg("clear"), py::arg("skip_actions"));
}

// LITERALINCLUDE START: BIND_OCCL
void bind_distributed(py::module_& m) {
  using openreg::ProcessGroupOCCL;
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
}
// LITERALINCLUDE END: BIND_OCCL

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
    bind_devices(m);
    bind_initialization(m);
    bind_random(m);
    bind_streams(m);
    bind_fallback(m);
    openreg::bind_simulation(m);
    bind_host_memory(m);
    bind_storage(m);
    bind_ipc(m);
    bind_memory(m);
    bind_distributed(m);
    return m.release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  // LITERALINCLUDE END: INIT_MODULE
  return nullptr;
}
