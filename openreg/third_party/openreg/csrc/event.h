// Events: marks in streams. See docs/start/architecture.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "handle.h"
#include "openreg.h"
#include "stream.h"

namespace openreg::driver {

struct CapturedMark;

// One record of an event: complete when `stream` is done with `position`. Each record
// makes its own mark, so that earlier waits keep their mark when the event is recorded
// again.
struct Mark {
  Ref<Stream> stream;
  uint64_t position = 0;
  std::atomic<int64_t> time = 0;  // ns of the steady clock, if the event has timing

  bool done() const { return stream->done(position); }
};

struct Event {
  using Handle = orEvent_t;
  static constexpr uint64_t kTag = 0x52;

  explicit Event(bool timing) : timing(timing) {}

  const bool timing;
  std::mutex mutex;
  // The last record: at most one of the two is set.
  std::shared_ptr<Mark> mark;
  std::shared_ptr<CapturedMark> captured;
};

}  // namespace openreg::driver
