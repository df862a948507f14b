// Records the memory events of a device with their callers; see docs/runtime/memory.md.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <deque>
#include <set>
#include <vector>

namespace openreg {

using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::TraceEntry;

// What to record; torch.openreg.memory._record_memory_history fills it in.
struct HistorySettings {
  bool trace = false;  // keep entries; otherwise only who allocated what is in use
  RecordContext when = RecordContext::NEVER;             // for which events, "who"
  c10::CachingDeviceAllocator::CreateContextFn context;  // finds out "who"
  size_t max_entries = 0;                                // drop the oldest beyond
  std::set<TraceEntry::Action> skip;
};

// The history of one device. All members but who() need the allocator's lock.
class MemoryHistory {
 public:
  void start(const HistorySettings& settings, bool clear);

  // The stack of the caller, if it is recorded for events of this kind. Takes the GIL
  // of Python: call it before any lock.
  std::shared_ptr<c10::GatheredContext> who(RecordContext kind) const;

  void add(TraceEntry::Action action, c10::DeviceIndex device, size_t address,
           size_t size, void* stream, c10::MempoolId_t pool,
           const std::shared_ptr<c10::GatheredContext>& context);

  // Oldest first, with Unix times.
  std::vector<TraceEntry> entries() const;

 private:
  HistorySettings settings_;
  std::atomic<RecordContext> when_ = RecordContext::NEVER;  // read without the lock
  std::atomic<c10::CachingDeviceAllocator::CreateContextFn> context_ = nullptr;
  std::deque<TraceEntry> entries_;
};

}  // namespace openreg
