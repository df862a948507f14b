// Events: the API functions on them. See docs/start/architecture.md.
#include "event.h"

#include "call.h"
#include "capture.h"

namespace openreg::driver {
namespace {

orError_t createEvent(orEvent_t* event, unsigned int flags) {
  if (event == nullptr) return fail(orErrorInvalidValue, "event is null");
  if (flags & ~static_cast<unsigned int>(orEventDisableTiming)) {
    return fail(orErrorInvalidValue,
                "flags are %#x: use orEventDefault or orEventDisableTiming", flags);
  }
  orEvent_t handle = nullptr;
  if (!table<Event>.create(&handle, !(flags & orEventDisableTiming))) {
    return fail(orErrorMemoryAllocation,
                "there are too many live events: destroy some");
  }
  *event = handle;
  return orSuccess;
}

orError_t failEvent(orEvent_t handle) {
  return fail(orErrorInvalidResourceHandle,
              "%p is not a live event: it was destroyed already, or not made by "
              "orEventCreate()",
              static_cast<void*>(handle));
}

// The event's last record; one or none of the two is set.
struct LastRecord {
  std::shared_ptr<Mark> mark;
  std::shared_ptr<CapturedMark> captured;
};

LastRecord lastRecord(Event& event) {
  std::lock_guard lock(event.mutex);
  return {event.mark, event.captured};
}

void setRecord(Event& event, LastRecord record) {
  // Swapped, so that the old record is destroyed after the lock: it may be the last
  // owner of a stream.
  std::lock_guard lock(event.mutex);
  event.mark.swap(record.mark);
  event.captured.swap(record.captured);
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orEventCreate(orEvent_t* event) {
  return call(__func__, [&] { return createEvent(event, orEventDefault); });
}

orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags) {
  return call(__func__, [&] { return createEvent(event, flags); });
}

orError_t orEventDestroy(orEvent_t event) {
  return call(__func__, [&]() -> orError_t {
    if (!table<Event>.remove(event)) return failEvent(event);
    return orSuccess;
  });
}

orError_t orEventRecord(orEvent_t event, orStream_t stream) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    auto target = table<Event>.find(event);
    if (!target) return failEvent(event);
    auto source = findStream(stream);
    if (!source) return failStream(stream);
    if (source->capturing.load(std::memory_order_acquire)) {
      std::shared_ptr<CapturedMark> captured;
      if (orError_t error = captureMark(*source, &captured)) return error;
      setRecord(*target, {nullptr, std::move(captured)});
      return orSuccess;
    }
    auto mark = std::make_shared<Mark>();
    mark->stream = source;
    if (target->timing) {
      if (orError_t error = source->enqueue(Stamp{mark}, &mark->position)) return error;
    } else {
      // A position is enough; no task is needed.
      if (orError_t error = source->device().reportFault()) return error;
      mark->position = source->end();
    }
    setRecord(*target, {std::move(mark), nullptr});
    return orSuccess;
  });
}

orError_t orStreamWaitEvent(orStream_t stream, orEvent_t event) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    auto source = table<Event>.find(event);
    if (!source) return failEvent(event);
    auto [mark, captured] = lastRecord(*source);
    if (captured) return captureJoin(*target, *captured);
    if (target->capturing.load(std::memory_order_acquire)) {
      return mark ? refuseOutsideMark(*target) : orSuccess;
    }
    if (orError_t error = target->device().reportFault()) return error;
    // Nothing to wait for: never recorded, on the same stream, or complete.
    if (!mark || mark->stream.get() == target.get() || mark->done()) return orSuccess;
    return target->enqueue(Wait{std::move(mark)});
  });
}

orError_t orEventQuery(orEvent_t event) {
  return call(__func__, [&]() -> orError_t {
    auto target = table<Event>.find(event);
    if (!target) return failEvent(event);
    auto [mark, captured] = lastRecord(*target);
    if (captured) return refuseOnCaptured(*captured);
    return !mark || mark->done() ? orSuccess : orErrorNotReady;
  });
}

orError_t orEventSynchronize(orEvent_t event) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    auto target = table<Event>.find(event);
    if (!target) return failEvent(event);
    auto [mark, captured] = lastRecord(*target);
    if (captured) return refuseOnCaptured(*captured);
    if (orError_t error = refuseWait()) return error;
    if (!mark) return orSuccess;
    mark->stream->wait(mark->position);
    return mark->stream->device().reportFault();
  });
}

orError_t orEventElapsedTime(float* ms, orEvent_t start, orEvent_t end) {
  return call(__func__, [&]() -> orError_t {
    if (ms == nullptr) return fail(orErrorInvalidValue, "ms is null");
    int64_t times[2];
    bool ready = true;
    for (int i = 0; i < 2; ++i) {
      orEvent_t handle = i == 0 ? start : end;
      const char* which = i == 0 ? "start" : "end";
      auto event = table<Event>.find(handle);
      if (!event) return failEvent(handle);
      if (!event->timing) {
        return fail(orErrorInvalidResourceHandle,
                    "event '%s' was made with orEventDisableTiming", which);
      }
      auto [mark, captured] = lastRecord(*event);
      if (captured) return refuseOnCaptured(*captured);
      if (!mark) {
        return fail(orErrorInvalidResourceHandle, "event '%s' was never recorded",
                    which);
      }
      ready = ready && mark->done();
      times[i] = mark->time.load(std::memory_order_acquire);
    }
    if (!ready) return orErrorNotReady;
    *ms = static_cast<float>(times[1] - times[0]) / 1e6f;
    return orSuccess;
  });
}
