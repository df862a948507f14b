// The last operations of all groups of this process; see
// docs/modules/distributed-debugging.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/profiler/combined_traceback.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "csrc/Export.h"
#include "csrc/distributed/WorkOCCL.h"

namespace openreg {

// As c10d::FlightRecorder, which torch keeps for its own backends until 2.15: one for
// the process, and written out when the program has failed or hangs.
class OPENREG_EXPORT FlightRecorder {
 public:
  using Traceback = std::shared_ptr<torch::CapturedTraceback>;
  struct Tensors {
    std::vector<std::vector<int64_t>> sizes;
    std::vector<at::ScalarType> dtypes;
    static Tensors of(const std::vector<at::Tensor>& tensors);
  };
  struct Entry {
    std::string group, description;
    std::vector<uint64_t> ranks;     // of the group, in the world
    const char* name;                // "occl::all_reduce"
    int rank, peer;                  // peer: of a message, else -1
    bool is_message;                 // sent or received
    uint64_t collectives, messages;  // of the group, with this one
    Tensors inputs, outputs;         // not the tensors: they would live on
    std::chrono::milliseconds timeout;
    Traceback traceback;              // where Python called
    WorkEvents::Ptr events;           // null when nothing changes any more
    int64_t id = 0, nanoseconds = 0;  // when it was enqueued, since 1970
    WorkEvents::Stage stage = WorkEvents::Stage::kScheduled;
    std::optional<float> duration = {};
    bool refused = false;
  };

  static FlightRecorder& get();

  bool is_on() const { return capacity_ != 0; }
  // Where the caller is, in Python; null if nothing is recorded. May take the GIL: call
  // it without a lock.
  Traceback traceback() const;
  // Needs is_on(). Returns what refuse() takes.
  int64_t record(Entry entry);
  // The library did not accept the operation.
  void refuse(int64_t id);
  // The oldest first, as they are now.
  std::vector<Entry> entries();

 private:
  FlightRecorder();

  const size_t capacity_;  // 0: records nothing
  std::mutex mutex_;       // guards what follows
  std::deque<Entry> entries_;
  int64_t next_ = 0;     // number of the next entry
  int64_t settled_ = 0;  // what comes before it changes no more
};

}  // namespace openreg
