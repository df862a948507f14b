// The last operations of all groups of this process; see
// docs/modules/distributed-debugging.md.
#include "csrc/distributed/FlightRecorder.h"

#include <c10/util/ApproximateClock.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>

#include <charconv>

namespace openreg {
namespace {

// As c10d::getCvarInt() reads it, whose header includes all of ATen.
size_t buffer_size() {
  const auto text = c10::utils::get_env("TORCH_FR_BUFFER_SIZE");
  if (!text.has_value()) {
    return 2000;
  }
  size_t size = 0;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, size);
  TORCH_CHECK_VALUE(error == std::errc() && end == last,
                    "openreg: TORCH_FR_BUFFER_SIZE is '", *text,
                    "', not a number of operations; set it to 0 to record none");
  return size;
}

// Returns whether the entry is final. The driver events are then released.
bool settle(FlightRecorder::Entry& entry) {
  if (entry.events == nullptr) {
    return true;
  }
  try {
    const bool over = entry.events->over();
    entry.stage = entry.events->stage();
    entry.duration = entry.events->duration();
    if (!over) {
      return false;
    }
  } catch (const std::exception&) {
    // The device has a fault. A dropped operation keeps its last state.
  }
  entry.events.reset();
  return true;
}

}  // namespace

FlightRecorder& FlightRecorder::get() {
  static auto* recorder = new FlightRecorder;  // leaks: it refers to objects of Python
  return *recorder;
}

FlightRecorder::FlightRecorder() : capacity_(buffer_size()) {}

FlightRecorder::Tensors FlightRecorder::Tensors::of(
    const std::vector<at::Tensor>& tensors) {
  Tensors result;
  for (const at::Tensor& tensor : tensors) {
    result.sizes.push_back(tensor.sizes().vec());
    result.dtypes.push_back(tensor.scalar_type());
  }
  return result;
}

FlightRecorder::Traceback FlightRecorder::traceback() const {
  return is_on() ? torch::CapturedTraceback::gather(true, true, false) : nullptr;
}

// LITERALINCLUDE START: RECORDER_RECORD
int64_t FlightRecorder::record(Entry entry) {
  entry.nanoseconds = c10::getTime();
  const std::lock_guard lock(mutex_);
  entry.id = next_++;
  entries_.push_back(std::move(entry));
  if (entries_.size() > capacity_) {
    entries_.pop_front();
  }
  const int64_t first = entries_.front().id;
  for (settled_ = std::max(settled_, first); settled_ < next_; ++settled_) {  // (1)
    if (!settle(entries_[settled_ - first])) {
      break;
    }
  }
  return next_ - 1;
}
// LITERALINCLUDE END: RECORDER_RECORD

void FlightRecorder::refuse(int64_t id) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.id == id) {
      entry.refused = true;
      entry.events.reset();
    }
  }
}

std::vector<FlightRecorder::Entry> FlightRecorder::entries() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> result;
  for (Entry& entry : entries_) {
    settle(entry);
    if (!entry.refused) {
      result.push_back(entry);
    }
  }
  return result;
}

}  // namespace openreg
