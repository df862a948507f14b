// Capture: recording tasks instead of running them. See docs/start/architecture.md.
//
// The tasks of all streams of a capture go into one list, in the order of the calls. A
// task depends only on earlier calls, so running the list from front to back keeps
// every dependency, and no waits are needed inside a graph.
#include "capture.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "call.h"
#include "graph.h"
#include "openreg_graph.h"
#include "stream.h"

namespace openreg::driver {

// How many tasks of each stream have certainly run. Joining counts as a task.
using Seen = std::map<const Stream*, uint64_t>;

struct Capture {
  struct Member {
    Ref<Stream> stream;
    Seen seen;  // of the stream itself: its tasks; of others: what it has waited for
  };
  uint64_t id;
  orStreamCaptureMode mode;
  std::thread::id thread;
  std::vector<Member> members;  // the first one began the capture
  std::vector<Node> nodes;
  bool live = true;
  std::string invalidatedBy;  // the call that invalidated it and why; empty if valid

  Member& member(const Stream& stream) {
    return *std::find_if(members.begin(), members.end(),
                         [&](Member& m) { return m.stream.get() == &stream; });
  }
  void invalidate(const char* why) {
    if (invalidatedBy.empty())
      invalidatedBy = std::string(driver::thread.function) + "() " + why;
  }
};

struct CapturedMark {
  std::shared_ptr<Capture> capture;
  Seen seen;
};

namespace {

// One lock for all captures: they are rare and short. Streams that are not capturing
// never take it, and neither do waits while there is no capture.
std::mutex capturesMutex;
auto& captures = *new std::vector<std::shared_ptr<Capture>>;  // the live ones
std::atomic<int> captureCount = 0;
uint64_t lastId = 0;

orError_t failInvalidated(const Capture& capture) {
  return fail(orErrorStreamCaptureInvalidated,
              "the capture was invalidated: %s. End it, and make that call outside of "
              "a capture",
              capture.invalidatedBy.c_str());
}

orError_t failUnsupported(Capture& capture, const char* why) {
  capture.invalidate(why);
  return fail(orErrorStreamCaptureUnsupported, "%s. This invalidates the capture", why);
}

void merge(Seen& into, const Seen& from) {
  for (auto [stream, count] : from) into[stream] = std::max(into[stream], count);
}

void addMember(const std::shared_ptr<Capture>& capture, Stream& stream, Seen seen) {
  ++seen[&stream];
  capture->members.push_back({Table<Stream>::refTo(&stream), std::move(seen)});
  stream.capture = capture;
  stream.capturing.store(true, std::memory_order_release);
}

// Whether `capture` forbids this thread to wait: its own one unless one of the two is
// relaxed, and a global one of another thread unless this thread respects its own only.
bool forbidsWait(const Capture& capture) {
  if (thread.captureMode == orStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) {
    return capture.mode != orStreamCaptureModeRelaxed;
  }
  return capture.mode == orStreamCaptureModeGlobal &&
         thread.captureMode == orStreamCaptureModeGlobal;
}

// Waiting calls: the captures that forbid them to this thread.
orError_t refuseWaitLocked() {
  orError_t error = orSuccess;
  for (auto& capture : captures) {
    if (forbidsWait(*capture)) {
      error = failUnsupported(
          *capture, "would wait for the device while a stream capture is going on");
    }
  }
  return error;
}

orError_t checkMode(orStreamCaptureMode mode) {
  if (mode >= orStreamCaptureModeGlobal && mode <= orStreamCaptureModeRelaxed) {
    return orSuccess;
  }
  return fail(orErrorInvalidValue, "%d is not an orStreamCaptureMode",
              static_cast<int>(mode));
}

orError_t refuseOnCapturingLocked(Stream& stream) {
  if (!stream.capture) return orSuccess;
  return failUnsupported(*stream.capture,
                         "queries or waits for a stream that is capturing");
}

}  // namespace

orError_t captureTask(Stream& stream, Task&& task) {
  std::lock_guard lock(capturesMutex);
  if (!stream.capture) {
    return fail(orErrorStreamCaptureInvalidated,
                "another thread has just ended the capture");
  }
  Capture& capture = *stream.capture;
  if (!capture.invalidatedBy.empty()) return failInvalidated(capture);
  if (orError_t error = stream.device().reportFault()) return error;
  Node& node = capture.nodes.emplace_back();  // may throw: before the task is taken
  node = {std::move(task), &stream.device(), stream.number()};
  ++capture.member(stream).seen[&stream];
  return orSuccess;
}

orError_t captureMark(Stream& stream, std::shared_ptr<CapturedMark>* mark) {
  std::lock_guard lock(capturesMutex);
  if (!stream.capture) {
    return fail(orErrorStreamCaptureInvalidated,
                "another thread has just ended the capture");
  }
  if (!stream.capture->invalidatedBy.empty()) return failInvalidated(*stream.capture);
  *mark = std::make_shared<CapturedMark>(
      CapturedMark{stream.capture, stream.capture->member(stream).seen});
  return orSuccess;
}

orError_t captureJoin(Stream& stream, const CapturedMark& mark) {
  std::lock_guard lock(capturesMutex);
  Capture& capture = *mark.capture;
  if (!capture.live) {
    const char* why =
        "waits for an event recorded in a capture that has ended: record it again";
    if (stream.capture) return failUnsupported(*stream.capture, why);
    return fail(orErrorStreamCaptureUnsupported, "%s", why);
  }
  if (stream.capture && stream.capture != mark.capture) {
    const char* why =
        "would merge two captures: wait for the event after one of them has ended";
    failUnsupported(*stream.capture, why);
    return failUnsupported(capture, why);
  }
  if (!capture.invalidatedBy.empty()) return failInvalidated(capture);
  if (stream.capture) {
    merge(capture.member(stream).seen, mark.seen);
  } else {
    addMember(mark.capture, stream, mark.seen);
  }
  return orSuccess;
}

orError_t refuseWait() {
  if (captureCount.load(std::memory_order_acquire) == 0) return orSuccess;
  std::lock_guard lock(capturesMutex);
  return refuseWaitLocked();
}

orError_t refuseWaitFor(Stream& stream) {
  if (captureCount.load(std::memory_order_acquire) == 0) return orSuccess;
  std::lock_guard lock(capturesMutex);
  if (orError_t error = refuseOnCapturingLocked(stream)) return error;
  return refuseWaitLocked();
}

orError_t refuseWaitFor(Device& device) {
  if (captureCount.load(std::memory_order_acquire) == 0) return orSuccess;
  std::lock_guard lock(capturesMutex);
  orError_t error = orSuccess;
  for (auto& capture : captures) {
    for (auto& member : capture->members) {
      if (&member.stream->device() != &device) continue;
      error = failUnsupported(
          *capture,
          "would wait for a device with a capturing stream: wait after the capture");
    }
  }
  if (error) return error;
  return refuseWaitLocked();
}

orError_t refuseOnCapturing(Stream& stream) {
  if (!stream.capturing.load(std::memory_order_acquire)) return orSuccess;
  std::lock_guard lock(capturesMutex);
  return refuseOnCapturingLocked(stream);
}

orError_t refuseOnCaptured(const CapturedMark& mark) {
  std::lock_guard lock(capturesMutex);
  const char* why = "queries or waits for an event that was recorded in a capture";
  if (mark.capture->live) return failUnsupported(*mark.capture, why);
  return fail(orErrorStreamCaptureUnsupported, "%s: record it again outside", why);
}

orError_t refuseOutsideMark(Stream& stream) {
  std::lock_guard lock(capturesMutex);
  if (!stream.capture) return orSuccess;
  return failUnsupported(*stream.capture,
                         "would make a capture depend on an event recorded outside of "
                         "it: wait for it before the capture");
}

orError_t refusePageable(Stream& stream) {
  if (!stream.capturing.load(std::memory_order_acquire)) return refuseWait();
  std::lock_guard lock(capturesMutex);
  if (!stream.capture) return orSuccess;
  return failUnsupported(
      *stream.capture,
      "copies pageable memory in a capture: use orMallocHost() memory");
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orStreamBeginCapture(orStream_t stream, orStreamCaptureMode mode) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (orError_t error = checkMode(mode)) return error;
    if (orError_t error = target->device().reportFault()) return error;
    std::lock_guard lock(capturesMutex);
    if (target->capture) {
      return fail(orErrorStreamCaptureUnsupported,
                  "stream %d is capturing already: end that capture first",
                  target->number());
    }
    auto capture = std::make_shared<Capture>();
    capture->id = ++lastId;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    captures.push_back(capture);
    addMember(capture, *target, {});
    captureCount.fetch_add(1, std::memory_order_release);
    return orSuccess;
  });
}

orError_t orThreadExchangeStreamCaptureMode(orStreamCaptureMode* mode) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (mode == nullptr) return fail(orErrorInvalidValue, "mode is null");
    if (orError_t error = checkMode(*mode)) return error;
    std::swap(*mode, thread.captureMode);
    return orSuccess;
  });
}

orError_t orStreamEndCapture(orStream_t stream, orGraph_t* graph) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (graph == nullptr) return fail(orErrorInvalidValue, "graph is null");
    std::shared_ptr<Capture>
        capture;  // outlives the lock: dropped tasks run destroy(args)
    std::vector<Capture::Member> members;
    std::unique_lock lock(capturesMutex);
    capture = target->capture;
    if (!capture) {
      return fail(orErrorInvalidValue, "stream %d is not capturing", target->number());
    }
    Stream& first = *capture->members.front().stream;
    if (&first != target.get()) {
      return fail(orErrorInvalidValue,
                  "stream %d joined a capture that stream %d began: end it there",
                  target->number(), first.number());
    }
    capture->live = false;
    members.swap(capture->members);
    std::erase(captures, capture);
    captureCount.fetch_sub(1, std::memory_order_release);
    for (auto& member : members) {
      member.stream->capture = nullptr;
      member.stream->capturing.store(false, std::memory_order_release);
    }
    if (!capture->invalidatedBy.empty()) return failInvalidated(*capture);
    Seen& seen = members.front().seen;
    for (auto& member : members) {
      const Stream* forked = member.stream.get();
      if (seen[forked] == member.seen[forked]) continue;
      return fail(
          orErrorStreamCaptureUnjoined,
          "stream %d joined the capture, but stream %d did not wait for the end of "
          "its work: record an event there and wait for it before the end",
          forked->number(), first.number());
    }
    lock.unlock();
    return createGraph(std::move(capture->nodes), graph);
  });
}

orError_t orStreamIsCapturing(orStream_t stream, int* capturing) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (capturing == nullptr) return fail(orErrorInvalidValue, "capturing is null");
    *capturing = target->capturing.load(std::memory_order_acquire);
    return orSuccess;
  });
}

orError_t orStreamGetCaptureInfo(orStream_t stream, int* capturing, uint64_t* id) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    if (capturing == nullptr || id == nullptr) {
      return fail(orErrorInvalidValue, "%s is null",
                  capturing == nullptr ? "capturing" : "id");
    }
    uint64_t found = 0;
    if (target->capturing.load(std::memory_order_acquire)) {
      std::lock_guard lock(capturesMutex);
      if (target->capture) found = target->capture->id;
    }
    *capturing = found != 0;
    *id = found;
    return orSuccess;
  });
}
