// A stream capture under way: who records, what invalidated it; see
// docs/modules/graphs.md.
#include "csrc/runtime/graph/OpenRegCapture.h"

#include <openreg_graph.h>

#include <utility>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

std::atomic<int> count = 0;
std::mutex captures_mutex;
// By the driver's id. Never destroyed: streams outlive static variables.
auto& captures = *new std::map<uint64_t, std::shared_ptr<Capture>>;

// The driver's id of the capture of `stream`; 0 if there is none.
uint64_t id_of(const c10::Stream& stream) {
  const OpenRegGuard scope(stream.device_index());  // a null handle is its stream
  int capturing = 0;
  uint64_t id = 0;
  OPENREG_CHECK(orStreamGetCaptureInfo(native_handle(stream), &capturing, &id));
  return id;
}

}  // namespace

std::shared_ptr<Capture> Capture::start(uint64_t id) {
  std::shared_ptr<Capture> capture(new Capture(id));
  const std::lock_guard lock(captures_mutex);
  captures.emplace(id, capture);
  count += 1;
  return capture;
}

void Capture::finish() {
  const std::lock_guard lock(captures_mutex);
  count -= static_cast<int>(captures.erase(id_));
}

bool Capture::any() noexcept { return count.load(std::memory_order_acquire) > 0; }

std::shared_ptr<Capture> Capture::of(const c10::Stream& stream) {
  if (!any()) {
    return nullptr;
  }
  const uint64_t id = id_of(stream);
  const std::lock_guard lock(captures_mutex);
  const auto entry = captures.find(id);
  return entry == captures.end() ? nullptr : entry->second;
}

bool Capture::has(const c10::Stream& stream) const { return id_of(stream) == id_; }

// LITERALINCLUDE START: CAPTURE_RESERVE
PhiloxKernelState Capture::reserve(
    const c10::intrusive_ptr<PhiloxGeneratorState>& words, DeviceIndex device,
    uint64_t blocks) {
  const auto take = [&](GraphDraws& draws) {
    const PhiloxState relative{0, std::exchange(draws.blocks, draws.blocks + blocks)};
    return PhiloxKernelState(relative, draws.start.get());
  };
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = draws_.find(words); entry != draws_.end()) {
      return take(entry->second);
    }
  }
  const OpenRegGuard scope(device);
  // Not from the graph's pool: it is written before the graph runs, and an earlier task
  // may have used that memory for something else.
  GraphDraws first{OpenRegDeviceAllocator::get().allocate_shared(sizeof(PhiloxState))};
  const std::lock_guard lock(mutex_);
  return take(draws_.try_emplace(words, std::move(first)).first->second);
}
// LITERALINCLUDE END: CAPTURE_RESERVE

CapturedRngStates Capture::take_draws() {
  const std::lock_guard lock(mutex_);
  return std::exchange(draws_, {});
}

void Capture::invalidate(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (invalidated_by_.empty()) {
    invalidated_by_ = why;
  }
}

std::string Capture::invalidated_by() const {
  const std::lock_guard lock(mutex_);
  return invalidated_by_;
}

// LITERALINCLUDE START: REFUSE_IN_CAPTURE
void refuse_in_capture(DeviceIndex device, const std::string& call, const char* why) {
  if (!Capture::any()) {
    return;
  }
  const c10::Stream stream = current_stream(device < 0 ? current_device() : device);
  const std::shared_ptr<Capture> capture = Capture::of(stream);
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
