// Streams: their life, and the API functions. See docs/start/architecture.md.
#include "stream.h"

#include <algorithm>

#include "call.h"
#include "capture.h"
#include "simulator.h"

namespace openreg::driver {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

orError_t createStream(orStream_t* stream, int priority) {
  if (stream == nullptr) return fail(orErrorInvalidValue, "stream is null");
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  orStream_t handle = nullptr;
  if (!table<Stream>.create(&handle, currentDevice(), priority)) {
    return fail(orErrorMemoryAllocation,
                "there are too many live streams: destroy some");
  }
  *stream = handle;
  return orSuccess;
}

}  // namespace

Stream::Stream(Device& device, int priority)
    : device_(device), priority_(priority), number_(device.addStream(this)) {}

Stream::~Stream() { device_.removeStream(this); }

Ref<Stream> findStream(orStream_t handle) {
  if (handle == nullptr) return currentDevice().defaultStream();
  return table<Stream>.find(handle);
}

orError_t failStream(orStream_t handle) {
  return fail(orErrorInvalidResourceHandle,
              "%p is not a live stream: it was destroyed already, or not made by "
              "orStreamCreate()",
              static_cast<void*>(handle));
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orStreamCreate(orStream_t* stream) {
  return call(__func__, [&] { return createStream(stream, kLeastPriority); });
}

orError_t orStreamCreateWithPriority(orStream_t* stream, int priority) {
  return call(__func__, [&] { return createStream(stream, priority); });
}

orError_t orDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (least == nullptr || greatest == nullptr) {
      return fail(orErrorInvalidValue, "%s is null",
                  least == nullptr ? "least" : "greatest");
    }
    *least = kLeastPriority;
    *greatest = kGreatestPriority;
    return orSuccess;
  });
}

orError_t orStreamDestroy(orStream_t stream) {
  return call(__func__, [&]() -> orError_t {
    if (stream == nullptr) {
      return fail(orErrorInvalidResourceHandle,
                  "NULL is the default stream, which cannot be destroyed");
    }
    auto target = table<Stream>.find(stream);
    if (!target) return failStream(stream);
    if (target->capturing.load(std::memory_order_acquire)) {
      return fail(orErrorStreamCaptureUnsupported,
                  "stream %d is capturing: end the capture first", target->number());
    }
    if (!table<Stream>.remove(stream)) return failStream(stream);
    releaseHolds(*target);  // no caller has the handle
    target->retire();
    return orSuccess;
  });
}

orError_t orStreamGetPriority(orStream_t stream, int* priority) {
  return call(__func__, [&]() -> orError_t {
    if (priority == nullptr) return fail(orErrorInvalidValue, "priority is null");
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    *priority = target->priority();
    return orSuccess;
  });
}

orError_t orStreamGetDevice(orStream_t stream, int* device) {
  return call(__func__, [&]() -> orError_t {
    if (device == nullptr) return fail(orErrorInvalidValue, "device is null");
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    *device = target->device().index();
    return orSuccess;
  });
}

orError_t orStreamQuery(orStream_t stream) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (orError_t error = refuseOnCapturing(*target)) return error;
    return target->done(target->end()) ? orSuccess : orErrorNotReady;
  });
}

orError_t orStreamSynchronize(orStream_t stream) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (orError_t error = refuseWaitFor(*target)) return error;
    target->wait(target->end());
    return target->device().reportFault();
  });
}
