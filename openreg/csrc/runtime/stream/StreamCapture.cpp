// The capture of a stream, for code that cannot be in a graph; see
// docs/modules/graphs-capture.md.
#include "csrc/runtime/stream/StreamCapture.h"

#include <openreg_graph.h>

#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

std::atomic<int> count = 0;
std::mutex captures_mutex;
// By the driver's id. Never destroyed: streams outlive static variables.
auto& captures = *new std::map<uint64_t, std::shared_ptr<StreamCapture>>;
auto& put_off = *new std::vector<std::function<void()>>;  // under the same mutex

// The driver's id of the capture of `stream`; 0 if there is none.
uint64_t id_of(const c10::Stream& stream) {
  const OpenRegGuard scope(stream.device_index());  // a null handle is its stream
  int capturing = 0;
  uint64_t id = 0;
  OPENREG_CHECK(orStreamGetCaptureInfo(native_handle(stream), &capturing, &id));
  return id;
}

}  // namespace

void StreamCapture::start(std::shared_ptr<StreamCapture> capture, uint64_t id) {
  const std::lock_guard lock(captures_mutex);
  capture->id_ = id;
  captures.emplace(id, std::move(capture));
  count += 1;
}

void StreamCapture::finish() {
  std::vector<std::function<void()>> releases;
  {
    const std::lock_guard lock(captures_mutex);
    count -= static_cast<int>(captures.erase(id_));
    if (count == 0) {
      releases.swap(put_off);
    }
  }
  for (const auto& release : releases) {
    release();
  }
}

bool StreamCapture::any() noexcept { return count.load(std::memory_order_acquire) > 0; }

std::shared_ptr<StreamCapture> StreamCapture::of(const c10::Stream& stream) {
  if (!any()) {
    return nullptr;
  }
  const uint64_t id = id_of(stream);
  const std::lock_guard lock(captures_mutex);
  const auto entry = captures.find(id);
  return entry == captures.end() ? nullptr : entry->second;
}

bool StreamCapture::has(const c10::Stream& stream) const {
  const uint64_t id = id_;
  return id != 0 && id_of(stream) == id;
}

void StreamCapture::invalidate(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (invalidated_by_.empty()) {
    invalidated_by_ = why;
  }
}

std::string StreamCapture::invalidated_by() const {
  const std::lock_guard lock(mutex_);
  return invalidated_by_;
}

std::shared_mutex& capture_mutex() {
  static auto& mutex = *new std::shared_mutex;  // memory is also freed at exit
  return mutex;
}

void after_captures(std::function<void()> release) noexcept {
  {
    const std::lock_guard lock(captures_mutex);
    if (count > 0) {
      put_off.push_back(std::move(release));
      return;
    }
  }
  const RelaxedCaptureGuard relaxed;  // a capture may have begun just now
  release();
}

// LITERALINCLUDE START: REFUSE_IN_CAPTURE
void refuse_in_capture(DeviceIndex device, const std::string& call, const char* why) {
  if (!StreamCapture::any()) {
    return;
  }
  const c10::Stream stream = current_stream(device < 0 ? current_device() : device);
  const std::shared_ptr<StreamCapture> capture = StreamCapture::of(stream);
  if (capture == nullptr) {
    return;
  }
  const std::string what = c10::str(call, " cannot be in a graph, because ", why);
  capture->invalidate(what);
  throw c10::AcceleratorError(
      {__func__, __FILE__, uint32_t{__LINE__}}, orErrorStreamCaptureUnsupported,
      c10::str(
          "openreg: ", what,
          ". This invalidates the capture "
          "(orErrorStreamCaptureUnsupported; see \"Errors of graphs\" in the guide)"));
}
// LITERALINCLUDE END: REFUSE_IN_CAPTURE

}  // namespace openreg
