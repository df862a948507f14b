// A stream capture under way: who records, what invalidated it; see
// docs/modules/graphs.md.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "csrc/Export.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/random/PhiloxState.h"

namespace openreg {

// What a graph draws from one generator in each replay.
struct GraphDraws {
  c10::DataPtr start;   // device memory: the seed, and the first counter of a replay
  uint64_t blocks = 0;  // of one replay
};
using CapturedRngStates =
    std::map<c10::intrusive_ptr<PhiloxGeneratorState>, GraphDraws>;

// What the parts of the backend that do not just launch must know of a capture. Thread
// safe: autograd launches from a thread of its own.
class OPENREG_EXPORT Capture {
 public:
  // From here until finish(), streams that take part in capture `id` of the driver
  // belong to this object.
  static std::shared_ptr<Capture> start(uint64_t id);
  void finish();

  // The capture in which `stream` takes part, or null.
  static std::shared_ptr<Capture> of(const c10::Stream& stream);
  // Whether any capture is going on in this process. Costs next to nothing.
  static bool any() noexcept;

  bool has(const c10::Stream& stream) const;  // takes `stream` part in this one?

  // Counters that are the first `blocks` free ones in each replay.
  PhiloxKernelState reserve(const c10::intrusive_ptr<PhiloxGeneratorState>& words,
                            DeviceIndex device, uint64_t blocks);
  CapturedRngStates take_draws();

  // The first call that cannot be in a graph, with the reason; empty if there is none.
  void invalidate(const std::string& why);
  std::string invalidated_by() const;

 private:
  explicit Capture(uint64_t id) : id_(id) {}

  const uint64_t id_;
  mutable std::mutex mutex_;  // nothing is allocated and no Python runs under it
  CapturedRngStates draws_;
  std::string invalidated_by_;
};

// Throws if the current stream of `device` (-1: of the current device) is captured, and
// invalidates that capture: `call` would be in the graph in part, or not at all. `why`
// goes on with "because".
OPENREG_EXPORT void refuse_in_capture(DeviceIndex device, const std::string& call,
                                      const char* why);

}  // namespace openreg
