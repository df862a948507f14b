// A memory snapshot as torch's memory_viz reads it; see docs/runtime/memory.md.
#pragma once

#include <torch/csrc/utils/pybind.h>

#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "torch_openreg/csrc/Frames.h"

namespace openreg {

namespace py = pybind11;

inline const char* name_of(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC:
      return "alloc";
    case TraceEntry::FREE_REQUESTED:
      return "free_requested";
    case TraceEntry::FREE_COMPLETED:
      return "free_completed";
    case TraceEntry::SEGMENT_ALLOC:
      return "segment_alloc";
    case TraceEntry::SEGMENT_FREE:
      return "segment_free";
    case TraceEntry::SNAPSHOT:
      return "snapshot";
    case TraceEntry::OOM:
      return "oom";
    default:
      return "segment_map";  // expandable segments, which this allocator has not
  }
}

inline py::dict to_python(const c10::CachingDeviceAllocator::SegmentInfo& segment,
                          const Frames& frames) {
  py::dict result;
  result["device"] = segment.device;
  result["address"] = segment.address;
  result["total_size"] = segment.total_size;
  result["allocated_size"] = segment.allocated_size;
  result["active_size"] = segment.active_size;
  result["requested_size"] = segment.requested_size;
  result["stream"] = reinterpret_cast<uintptr_t>(segment.stream);
  result["segment_type"] = segment.is_large ? "large" : "small";
  result["segment_pool_id"] = segment.owner_private_pool_id;
  result["is_expandable"] = segment.is_expandable;
  result["frames"] = py::list();
  py::list blocks;
  size_t address = segment.address;
  for (const auto& block : segment.blocks) {
    py::dict entry;
    entry["address"] = address;
    entry["size"] = block.size;
    entry["requested_size"] = block.requested_size;
    entry["state"] = block.allocated ? "active_allocated"
                     : block.active  ? "active_awaiting_free"
                                     : "inactive";
    entry["frames"] = frames.of(block.context_when_allocated);
    blocks.append(entry);
    address += block.size;
  }
  result["blocks"] = blocks;
  return result;
}

inline py::dict to_python(const TraceEntry& entry, const Frames& frames) {
  py::dict result;
  result["action"] = name_of(entry.action_);
  result[entry.action_ == TraceEntry::OOM ? "device_free" : "addr"] = entry.addr_;
  result["size"] = entry.size_;
  result["stream"] = reinterpret_cast<uintptr_t>(entry.stream_);
  result["segment_pool_id"] = entry.mempool_;
  result["time_us"] = entry.time_.t_;
  result["frames"] = frames.of(entry.context_);
  return result;
}

// Needs the GIL.
inline py::dict to_python(const MemorySnapshot& snapshot) {
  Frames frames;
  for (const auto& segment : snapshot.segments) {
    for (const auto& block : segment.blocks) {
      frames.add(block.context_when_allocated);
    }
  }
  for (const auto& trace : snapshot.device_traces) {
    for (const TraceEntry& entry : trace) {
      frames.add(entry.context_);
    }
  }
  frames.look_up();
  py::list segments;
  for (const auto& segment : snapshot.segments) {
    segments.append(to_python(segment, frames));
  }
  py::list traces;
  for (const auto& trace : snapshot.device_traces) {
    py::list entries;
    for (const TraceEntry& entry : trace) {
      entries.append(to_python(entry, frames));
    }
    traces.append(entries);
  }
  py::dict result;
  result["segments"] = segments;
  result["device_traces"] = traces;
  return result;
}

}  // namespace openreg
