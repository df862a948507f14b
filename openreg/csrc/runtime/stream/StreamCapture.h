// A stream that is captured, for the code that cannot be in a graph; see
// docs/modules/graphs-capture.md.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <mutex>
#include <string>

#include "csrc/Export.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

class PhiloxGeneratorState;
class PhiloxKernelState;

// What the parts of the backend that do not just launch must know of a capture. The
// graph derives from it; a backend without graphs has no capture under way. Thread
// safe: autograd launches from a thread of its own.
class OPENREG_EXPORT StreamCapture {
 public:
  virtual ~StreamCapture() = default;
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  // From here until finish(), streams that take part in this capture of the driver
  // belong to `capture`.
  static void start(std::shared_ptr<StreamCapture> capture);
  void finish();

  // The capture in which `stream` takes part, or null.
  static std::shared_ptr<StreamCapture> of(const c10::Stream& stream);
  // Whether any capture is under way in this process. Costs next to nothing.
  static bool any() noexcept;

  bool has(const c10::Stream& stream) const;  // takes `stream` part in this one?

  // Counters that are the first `blocks` free ones in each replay.
  virtual PhiloxKernelState reserve(
      const c10::intrusive_ptr<PhiloxGeneratorState>& words, DeviceIndex device,
      uint64_t blocks) = 0;

  // The first call that cannot be in a graph, with the reason; empty if there is none.
  void invalidate(const std::string& why);
  std::string invalidated_by() const;

 protected:
  explicit StreamCapture(uint64_t id) : id_(id) {}  // of the driver

 private:
  const uint64_t id_;
  mutable std::mutex mutex_;
  std::string invalidated_by_;
};

// Throws if the current stream of `device` (-1: of the current device) is captured, and
// invalidates that capture: `call` would be in the graph in part, or not at all. `why`
// goes on with "because".
OPENREG_EXPORT void refuse_in_capture(DeviceIndex device, const std::string& call,
                                      const char* why);

}  // namespace openreg
