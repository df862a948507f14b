// Records the memory events of a device with their callers; see docs/runtime/memory.md.
#include "csrc/runtime/memory/MemoryHistory.h"

namespace openreg {
namespace {

// Compares two clocks at construction and again at each use: the more time between
// them, the more exact the result.
c10::ApproximateClockToUnixTimeConverter& clock_converter() {
  static c10::ApproximateClockToUnixTimeConverter converter;
  return converter;
}

}  // namespace

void MemoryHistory::start(const HistorySettings& settings, bool clear) {
  clock_converter();
  settings_ = settings;
  context_ = settings_.context;
  when_ = settings_.when;
  if (clear) {
    entries_.clear();
  }
}

std::shared_ptr<c10::GatheredContext> MemoryHistory::who(RecordContext kind) const {
  if (when_ < kind) {
    return nullptr;
  }
  const auto context = context_.load();
  return context == nullptr ? nullptr : context();
}

void MemoryHistory::add(TraceEntry::Action action, c10::DeviceIndex device,
                        size_t address, size_t size, void* stream,
                        c10::MempoolId_t pool,
                        const std::shared_ptr<c10::GatheredContext>& context) {
  if (!settings_.trace || settings_.skip.contains(action)) {
    return;
  }
  // A context that is kept for memory in use need not be kept in the trace as well.
  const bool keep = settings_.when >= RecordContext::ALLOC;
  entries_.emplace_back(action, device, address, size, stream, pool,
                        c10::getApproximateTime(), keep ? context : nullptr);
  while (entries_.size() > settings_.max_entries) {
    entries_.pop_front();
  }
}

std::vector<TraceEntry> MemoryHistory::entries() const {
  const auto to_unix = clock_converter().makeConverter();
  std::vector<TraceEntry> copies(entries_.begin(), entries_.end());
  for (TraceEntry& entry : copies) {
    entry.time_.t_ = to_unix(entry.time_.approx_t_) / 1000;  // ns to us
  }
  return copies;
}

}  // namespace openreg
