// The capture of a stream, for code that cannot be in a graph; see
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

// The interface of a capture for the parts of the backend that do more than launch
// kernels. The graph derives from it; without graphs, no capture is ever active. Thread
// safe: autograd launches from its own thread.
class OPENREG_EXPORT StreamCapture {
 public:
  virtual ~StreamCapture() = default;
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  // From here until finish(), streams that take part in capture `id` of the driver
  // belong to `capture`. Until then no stream takes part in it.
  static void start(std::shared_ptr<StreamCapture> capture, uint64_t id);
  // Makes the deferred calls, if no other capture is active.
  void finish();

  // The capture in which `stream` takes part, or null.
  static std::shared_ptr<StreamCapture> of(const c10::Stream& stream);
  // Whether any capture is active in this process. Almost free.
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

// Held shared while an event is recorded in a stream that is not captured: no capture
// may begin between the check and the record, or the event would be part of the graph.
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

// Calls `release` now, or at the end of the last active capture: for driver calls that
// wait for the device. Never throws, and neither may `release`.
OPENREG_EXPORT void after_captures(std::function<void()> release) noexcept;

// Throws if the current stream of `device` (-1: of the current device) is captured, and
// invalidates that capture: the graph would contain `call` only in part, or not at all.
// `why` continues the message after "because".
OPENREG_EXPORT void refuse_in_capture(DeviceIndex device, const std::string& call,
                                      const char* why);

}  // namespace openreg
