// Streams: life, queries, waits, holds; see docs/opencl/driver.md.
#include "stream.h"

#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "config.h"
#include "host_task.h"
#include "process.h"

namespace oclrt {
namespace {

constexpr uint64_t kMilestone = 1024;

// Never destroyed: streams are used while the process exits.
struct Registry {
  std::mutex mutex;
  // A handle is a number that no other stream gets, so that a stale handle stays
  // invalid.
  uintptr_t next = uintptr_t{0x5354} << 32;
  std::unordered_map<orStream_t, Stream> live;
  std::vector<Stream> retired;  // destroyed, and maybe not idle yet
  std::atomic<int> held = 0;
};
Registry& registry = *new Registry;

void release_holds(orStream& stream) {
  const std::lock_guard lock(stream.mutex);
  for (const Command& hold : stream.holds) {
    static_cast<void>(clSetUserEventStatus(hold.get(), CL_COMPLETE));
    --registry.held;
  }
  stream.holds.clear();
}

bool is_idle(orStream& stream) {
  return query(last_of(stream), stream.device) != orErrorNotReady;
}

void remove_idle(std::vector<Stream>& streams) {
  std::erase_if(streams, [](const Stream& stream) { return is_idle(*stream); });
}

std::vector<Stream> all_streams() {
  const std::lock_guard lock(registry.mutex);
  remove_idle(registry.retired);
  std::vector<Stream> all = registry.retired;
  for (const auto& device : platform().devices) all.push_back(device->default_stream);
  for (const auto& [handle, stream] : registry.live) all.push_back(stream);
  return all;
}

}  // namespace

orError_t query(const Command& command, int device) {
  if (!command) return orSuccess;
  cl_int progress = CL_COMPLETE;
  const cl_int status = clGetEventInfo(command.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                       sizeof progress, &progress, nullptr);
  if (status != CL_SUCCESS) return fail_cl("clGetEventInfo", status);
  if (progress == CL_COMPLETE) return orSuccess;
  if (progress > 0) return orErrorNotReady;
  set_fault(device, orErrorLaunchFailure,
            std::string("a command ended with ") + name_of(progress) + " (" +
                std::to_string(progress) + ")");
  return fault_of(device);
}

void wait_for(const Command& command, int device) {
  if (!command) return;
  const cl_event event = command.get();
  const cl_int status = clWaitForEvents(1, &event);
  if (status == CL_SUCCESS || query(command, device) != orSuccess) return;
  set_fault(device, orErrorLaunchFailure,
            std::string("clWaitForEvents failed: ") + name_of(status));
}

orError_t make_stream(int device, Stream* stream) {
  auto made = std::make_shared<orStream>(device, device_at(device).streams_made++);
  const cl_queue_properties timed[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                       0};
  cl_int status = CL_SUCCESS;
  made->queue = clCreateCommandQueueWithProperties(
      platform().context, device_at(device).id, timed, &status);
  if (status != CL_SUCCESS) {
    return fail_cl("clCreateCommandQueueWithProperties", status);
  }
  *stream = std::move(made);
  return orSuccess;
}

orError_t find_stream(orStream_t handle, Stream* stream) {
  if (handle == nullptr) {
    *stream = device_at(thread.device).default_stream;
    return orSuccess;
  }
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.live.find(handle);
  if (found == registry.live.end()) {
    return fail(orErrorInvalidResourceHandle,
                "%p is not a live stream: it was "
                "destroyed, or never created",
                static_cast<void*>(handle));
  }
  *stream = found->second;
  return orSuccess;
}

Command last_of(orStream& stream) {
  const std::lock_guard lock(stream.mutex);
  return stream.last;
}

void wait_for_device(int device) {
  for (const Stream& stream : all_streams()) {
    if (stream->device == device) wait_for(last_of(*stream), device);
  }
}

// OpenCL: no wait has a time limit. Instead, the state of the last commands is polled.
void drain_streams(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const std::vector<Stream> all = all_streams();
  for (const Stream& stream : all) release_holds(*stream);
  for (const Stream& stream : all) {
    while (!is_idle(*stream) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

// OpenCL: a queue takes commands until the memory of the host is full. Instead, each
// 1024th command waits for the one 1024 before it.
orError_t after_enqueue(orStream& stream, const Command& command) {
  Command before;
  {
    const std::lock_guard lock(stream.mutex);
    if (++stream.enqueued % kMilestone == 0) {
      before = std::exchange(stream.milestone, command);
    }
  }
  wait_for(before, stream.device);
  if (config().launch_blocking && registry.held == 0) {
    wait_for(command, stream.device);
  }
  return orSuccess;
}

}  // namespace oclrt

orStream::~orStream() {
  if (queue != nullptr) clReleaseCommandQueue(queue);
}

using namespace oclrt;

orError_t orStreamCreate(orStream_t* stream) {
  return orStreamCreateWithPriority(stream, 0);
}

// OpenCL: priorities are an extension (cl_khr_priority_hints) that PoCL lacks. Instead,
// each priority is clamped to a range of one.
orError_t orStreamCreateWithPriority(orStream_t* stream, int /*priority*/) {
  return call(__func__, kStart, [&] {
    if (stream == nullptr) return fail(orErrorInvalidValue, "stream is null");
    Stream made;
    if (orError_t error = make_stream(thread.device, &made)) return error;
    const std::lock_guard lock(registry.mutex);
    *stream = reinterpret_cast<orStream_t>(++registry.next);
    registry.live.emplace(*stream, std::move(made));
    return orSuccess;
  });
}

orError_t orDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, kInTask, [&] {
    if (least == nullptr || greatest == nullptr) {
      return fail(orErrorInvalidValue, "least or greatest is null");
    }
    *least = *greatest = 0;
    return orSuccess;
  });
}

orError_t orStreamDestroy(orStream_t handle) {
  return call(__func__, kStart, [&] {
    if (handle == nullptr) {
      return fail(orErrorInvalidResourceHandle,
                  "the default stream cannot be destroyed");
    }
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    release_holds(*stream);
    {
      const std::lock_guard lock(stream->mutex);
      if (stream->host != nullptr) stream->host->close();
    }
    const std::lock_guard lock(registry.mutex);
    registry.live.erase(handle);
    remove_idle(registry.retired);
    registry.retired.push_back(stream);
    return orSuccess;
  });
}

orError_t orStreamGetPriority(orStream_t handle, int* priority) {
  return call(__func__, kStart, [&] {
    if (priority == nullptr) return fail(orErrorInvalidValue, "priority is null");
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    *priority = 0;
    return orSuccess;
  });
}

orError_t orStreamGetDevice(orStream_t handle, int* device) {
  return call(__func__, kStart, [&] {
    if (device == nullptr) return fail(orErrorInvalidValue, "device is null");
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    *device = stream->device;
    return orSuccess;
  });
}

orError_t orStreamQuery(orStream_t handle) {
  return call(__func__, kStart, [&] {
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    return query(last_of(*stream), stream->device);
  });
}

orError_t orStreamSynchronize(orStream_t handle) {
  return call(__func__, kStart, [&] {
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    wait_for(last_of(*stream), stream->device);
    return fault_of(stream->device);
  });
}

orError_t orClHold(orStream_t handle) {
  return call(__func__, kStart, [&] {
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    cl_int status = CL_SUCCESS;
    const Command hold(clCreateUserEvent(platform().context, &status));
    if (status != CL_SUCCESS) return fail_cl("clCreateUserEvent", status);
    return enqueue(*stream, "clEnqueueBarrierWithWaitList",
                   [&](cl_command_queue queue, cl_event* event) {
                     const cl_event wait = hold.get();
                     status = clEnqueueBarrierWithWaitList(queue, 1, &wait, event);
                     if (status == CL_SUCCESS) {
                       stream->holds.push_back(hold);
                       ++registry.held;
                     }
                     return status;
                   });
  });
}

orError_t orClRelease(orStream_t handle) {
  return call(__func__, kStart, [&] {
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    const std::lock_guard lock(stream->mutex);
    if (stream->holds.empty()) {
      return fail(orErrorInvalidValue, "the stream is not held");
    }
    const Command hold = std::move(stream->holds.back());
    stream->holds.pop_back();
    --registry.held;
    const cl_int status = clSetUserEventStatus(hold.get(), CL_COMPLETE);
    return status == CL_SUCCESS ? orSuccess : fail_cl("clSetUserEventStatus", status);
  });
}
