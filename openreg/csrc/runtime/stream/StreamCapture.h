// A stream that is captured, for the code that cannot be in a graph; see
// docs/modules/graphs-capture.md.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/intrusive_ptr.h>

#include <openreg.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "csrc/Export.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

class PhiloxGeneratorState;
class PhiloxKernelState;

// What the parts of the backend that do not just launch must know of a capture. The
// graph derives from it; a backend without graphs has no capture under way. Thread
// safe: autograd launches from its own thread.
class OPENREG_EXPORT StreamCapture {
 public:
  virtual ~StreamCapture() = default;
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  // From here until finish(), streams that take part in capture `id` of the driver
  // belong to `capture`. Until then no stream takes part in it.
  static void start(std::shared_ptr<StreamCapture> capture, uint64_t id);
  // Makes the calls that were put off, if no other capture is under way.
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
  StreamCapture() = default;

 private:
  std::atomic<uint64_t> id_ = 0;  // of the driver, which gives none the number 0
  mutable std::mutex mutex_;
  std::string invalidated_by_;
};

// Shared by those who record an event in a stream that is not captured: no capture may
// begin between their check and the record, or the event would be part of the graph.
// Taken exclusively where a capture begins.
OPENREG_EXPORT std::shared_mutex& capture_mutex();

// For a scope: what this thread frees or allocates invalidates no capture of another.
class OPENREG_EXPORT RelaxedCaptureGuard {
 public:
  RelaxedCaptureGuard() { orThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCaptureGuard() { orThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCaptureGuard(const RelaxedCaptureGuard&) = delete;
  RelaxedCaptureGuard& operator=(const RelaxedCaptureGuard&) = delete;

 private:
  orStreamCaptureMode mode_ = orStreamCaptureModeRelaxed;  // then: what it was before
};

// Calls `release` now, or at the end of the last capture that is under way: for calls
// of the driver that wait for the device. Never throws, and neither may `release`.
OPENREG_EXPORT void after_captures(std::function<void()> release) noexcept;

// Throws if the current stream of `device` (-1: of the current device) is captured, and
// invalidates that capture: `call` would be in the graph in part, or not at all. `why`
// goes on with "because".
OPENREG_EXPORT void refuse_in_capture(DeviceIndex device, const std::string& call,
                                      const char* why);

}  // namespace openreg
