// Bindings of device memory; see docs/runtime/memory-settings.md.
#pragma once

#include <torch/csrc/utils/pybind.h>
#include <thread>

#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "torch_openreg/csrc/MemorySnapshot.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

namespace py = pybind11;

inline OpenRegDeviceAllocator& allocator() { return OpenRegDeviceAllocator::get(); }

// Starts or stops the history; arguments as torch.openreg._record_memory_history().
inline void record_memory_history(bool enabled, bool trace, RecordContext stacks_for,
                                  bool with_cpp, size_t max_entries, bool clear,
                                  const std::vector<std::string>& skip_actions) {
  HistorySettings settings;
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

inline void bind_memory(py::module_& m) {
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
  m.def("_new_memory_pool", &OpenRegDeviceAllocator::new_pool);
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
        std::map<Pool, std::array<std::array<int64_t, 4>, 3>> bytes;
        const auto stats = allocator().getDeviceStats(device);
        for (const auto& [pool, array] : stats.reserved_bytes_by_private_pools) {
          for (size_t line = 0; line < array.size(); ++line) {
            const auto& stat = array[line];
            bytes[pool][line] = {stat.current, stat.peak, stat.allocated, stat.freed};
          }
        }
        return bytes;
      },
      py::arg("device"),
      "Reserved by each private pool, in total, small and large blocks: current, peak, "
      "total, freed.");
  m.def(
      "_memory_bytes",
      [](DeviceIndex device) {
        const auto [allocated, reserved] = allocator().cache_of(device).bytes();
        return std::array{allocated.current, allocated.peak, reserved.current,
                          reserved.peak};
      },
      py::arg("device"), "Allocated, most allocated, reserved, most reserved.");
  m.def("_memory_snapshot", [] {
    MemorySnapshot snapshot;
    {
      const py::gil_scoped_release without_gil;
      snapshot = allocator().snapshot();
    }
    return to_python(snapshot);
  });
  m.def(
      "_record_memory_history",
      [](bool enabled, bool trace, int stacks_for, bool with_cpp, size_t max_entries,
         bool clear, const std::vector<std::string>& skip_actions) {
        record_memory_history(enabled, trace, static_cast<RecordContext>(stacks_for),
                              with_cpp, max_entries, clear, skip_actions);
      },
      py::arg("enabled"), py::arg("trace"), py::arg("stacks_for"), py::arg("with_cpp"),
      py::arg("max_entries"), py::arg("clear"), py::arg("skip_actions"));
}

}  // namespace openreg
