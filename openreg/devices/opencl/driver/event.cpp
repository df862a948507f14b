// Events: records, waits across streams, times; see docs/opencl/driver.md.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "process.h"
#include "stream.h"

// OpenCL: an event is one record of one command. Instead, each record takes a new event
// of OpenCL; waits that were enqueued earlier keep the old one.
struct orEvent {
  explicit orEvent(bool with_times) : timed(with_times) {}
  const bool timed;
  std::mutex mutex;  // of what follows
  bool recorded = false;
  oclrt::Command mark;  // empty: the stream was idle
  int device = 0;
};

namespace oclrt {
namespace {

using Event = std::shared_ptr<orEvent>;

// Never destroyed: events are freed while the process exits.
struct Registry {
  std::mutex mutex;
  // A handle is a number that no other event gets, so that a stale handle stays
  // invalid.
  uintptr_t next = uintptr_t{0x4556} << 32;
  std::unordered_map<orEvent_t, Event> live;
};
Registry& registry = *new Registry;

orError_t find_event(orEvent_t handle, Event* event) {
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.live.find(handle);
  if (found == registry.live.end()) {
    return fail(orErrorInvalidResourceHandle,
                "%p is not a live event: it was destroyed, or never created",
                static_cast<void*>(handle));
  }
  *event = found->second;
  return orSuccess;
}

struct Record {
  bool recorded;
  Command mark;
  int device;
};

Record record_of(orEvent& event) {
  const std::lock_guard lock(event.mutex);
  return {event.recorded, event.mark, event.device};
}

// The time at which a record completed, in nanoseconds of the device's clock.
orError_t time_of(orEvent_t handle, const char* which, cl_ulong* at) {
  Event event;
  if (orError_t error = find_event(handle, &event)) return error;
  const Record record = record_of(*event);
  if (!record.recorded || !event->timed) {
    return fail(orErrorInvalidResourceHandle, "'%s' %s", which,
                event->timed ? "was never recorded"
                             : "has no time: it was made with orEventDisableTiming");
  }
  if (orError_t error = query(record.mark, record.device)) return error;
  const cl_int status = clGetEventProfilingInfo(
      record.mark.get(), CL_PROFILING_COMMAND_END, sizeof *at, at, nullptr);
  return status == CL_SUCCESS ? orSuccess : fail_cl("clGetEventProfilingInfo", status);
}

}  // namespace
}  // namespace oclrt

using namespace oclrt;

orError_t orEventCreate(orEvent_t* event) {
  return orEventCreateWithFlags(event, orEventDefault);
}

orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags) {
  return call(__func__, kStart, [&] {
    if (event == nullptr) return fail(orErrorInvalidValue, "event is null");
    if (flags != orEventDefault && flags != orEventDisableTiming) {
      return fail(orErrorInvalidValue,
                  "flags is %u: use orEventDefault or orEventDisableTiming", flags);
    }
    auto made = std::make_shared<orEvent>(flags == orEventDefault);
    const std::lock_guard lock(registry.mutex);
    *event = reinterpret_cast<orEvent_t>(++registry.next);
    registry.live.emplace(*event, std::move(made));
    return orSuccess;
  });
}

orError_t orEventDestroy(orEvent_t handle) {
  return call(__func__, kStart, [&] {
    Event event;
    if (orError_t error = find_event(handle, &event)) return error;
    const std::lock_guard lock(registry.mutex);
    registry.live.erase(handle);
    return orSuccess;
  });
}

orError_t orEventRecord(orEvent_t handle, orStream_t stream_handle) {
  return call(__func__, kStart, [&] {
    Event event;
    Stream stream;
    if (orError_t error = find_event(handle, &event)) return error;
    if (orError_t error = find_stream(stream_handle, &stream)) return error;
    Command mark;
    if (event->timed) {
      const auto add = [](cl_command_queue queue, cl_event* added) {
        return clEnqueueMarkerWithWaitList(queue, 0, nullptr, added);
      };
      if (orError_t error =
              enqueue(*stream, "clEnqueueMarkerWithWaitList", add, &mark)) {
        return error;
      }
    } else {  // the stream's last command has an event already
      if (orError_t error = fault_of(stream->device)) return error;
      mark = last_of(*stream);
    }
    const std::lock_guard lock(event->mutex);
    event->recorded = true;
    event->mark = mark;
    event->device = stream->device;
    return orSuccess;
  });
}

orError_t orStreamWaitEvent(orStream_t stream_handle, orEvent_t handle) {
  return call(__func__, kStart, [&] {
    Event event;
    Stream stream;
    if (orError_t error = find_event(handle, &event)) return error;
    if (orError_t error = find_stream(stream_handle, &stream)) return error;
    const Command mark = record_of(*event).mark;
    if (!mark) return fault_of(stream->device);
    const cl_event wait = mark.get();
    return enqueue(*stream, "clEnqueueBarrierWithWaitList",
                   [&](cl_command_queue queue, cl_event* added) {
                     return clEnqueueBarrierWithWaitList(queue, 1, &wait, added);
                   });
  });
}

orError_t orEventQuery(orEvent_t handle) {
  return call(__func__, kStart, [&] {
    Event event;
    if (orError_t error = find_event(handle, &event)) return error;
    const Record record = record_of(*event);
    return query(record.mark, record.device);
  });
}

orError_t orEventSynchronize(orEvent_t handle) {
  return call(__func__, kStart, [&] {
    Event event;
    if (orError_t error = find_event(handle, &event)) return error;
    const Record record = record_of(*event);
    wait_for(record.mark, record.device);
    return fault_of(record.device);
  });
}

// OpenCL: each device has its own clock. The difference of two records on
// different devices means something only where the clocks are one, as those of
// sub-devices are.
orError_t orEventElapsedTime(float* ms, orEvent_t start, orEvent_t end) {
  return call(__func__, kStart, [&] {
    if (ms == nullptr) return fail(orErrorInvalidValue, "ms is null");
    cl_ulong from = 0;
    cl_ulong to = 0;
    if (orError_t error = time_of(start, "start", &from)) return error;
    if (orError_t error = time_of(end, "end", &to)) return error;
    const double nanoseconds = static_cast<double>(to) - static_cast<double>(from);
    *ms = static_cast<float>(nanoseconds * 1e-6);
    return orSuccess;
  });
}
