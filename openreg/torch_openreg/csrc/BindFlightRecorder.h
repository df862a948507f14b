// The contents of the flight recorder in the format of torch's dumps; see
// docs/modules/distributed-debugging.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/distributed/FlightRecorder.h"
#include "torch_openreg/csrc/Frames.h"

namespace openreg {

namespace py = pybind11;

inline std::vector<std::string> names_of(const std::vector<at::ScalarType>& dtypes) {
  std::vector<std::string> result;
  for (const at::ScalarType dtype : dtypes) {
    result.emplace_back(c10::toString(dtype));
  }
  return result;
}

inline py::dict as_dict(const FlightRecorder::Entry& entry, const Frames& frames) {
  constexpr const char* kStates[] = {"scheduled", "started", "completed"};
  py::dict result;
  result["record_id"] = entry.id;
  result["process_group"] = std::make_pair(entry.group, entry.description);
  result["ranks"] = entry.ranks;
  result["collective_seq_id"] = entry.collectives;
  result["p2p_seq_id"] = entry.messages;
  result["is_p2p"] = entry.is_message;
  result["name"] = entry.name;
  result["rank"] = entry.rank;
  result["peer"] = entry.peer;
  result["input_sizes"] = entry.inputs.sizes;
  result["input_dtypes"] = names_of(entry.inputs.dtypes);
  result["output_sizes"] = entry.outputs.sizes;
  result["output_dtypes"] = names_of(entry.outputs.dtypes);
  result["state"] = kStates[static_cast<int>(entry.stage)];
  result["duration_ms"] = entry.duration;
  result["timeout_ms"] = entry.timeout.count();
  result["time_created_ns"] = entry.nanoseconds;
  result["frames"] = frames.of(entry.traceback);
  return result;
}

inline void bind_flight_recorder(py::module_& m) {
  m.def("_flight_recorder_entries", [] {
    const std::vector<FlightRecorder::Entry> entries = FlightRecorder::get().entries();
    Frames frames;
    for (const FlightRecorder::Entry& entry : entries) {
      frames.add(entry.traceback);
    }
    frames.look_up();
    py::list result;
    for (const FlightRecorder::Entry& entry : entries) {
      result.append(as_dict(entry, frames));
    }
    return result;
  });
}

}  // namespace openreg
