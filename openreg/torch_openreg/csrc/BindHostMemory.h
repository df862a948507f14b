// Bindings of pinned memory; see docs/runtime/host-memory.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/memory/OpenRegHostAllocator.h"
#include "torch_openreg/csrc/NoGil.h"

namespace openreg {

namespace py = pybind11;

inline py::dict as_dict(const c10::CachingAllocator::Stat& stat) {
  py::dict result;
  result["current"] = stat.current;
  result["peak"] = stat.peak;
  result["allocated"] = stat.allocated;
  result["freed"] = stat.freed;
  return result;
}

inline py::dict as_dict(const c10::CachingAllocator::DurationStat& stat) {
  py::dict result;
  result["total"] = stat.total;
  result["max"] = stat.max;
  result["min"] = stat.min;
  result["count"] = stat.count;
  result["avg"] = stat.count == 0 ? 0 : stat.total / stat.count;
  return result;
}

inline void bind_host_memory(py::module_& m) {
  m.def("_host_memory_stats", [] {
    const at::HostStats stats = [] {
      const py::gil_scoped_release no_gil;
      return host_allocator().get_stats();
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
      [] { host_allocator().reset_accumulated_stats(); }, NoGil());
  m.def(
      "_reset_peak_host_memory_stats", [] { host_allocator().reset_peak_stats(); },
      NoGil());
}

}  // namespace openreg
