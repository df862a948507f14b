// Streams: one in-order queue of OpenCL each; see docs/opencl/driver.md.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "command.h"
#include "device.h"
#include "error.h"

namespace oclrt {
class HostThread;
}

struct orStream {
  orStream(int on, int of_device) : device(on), number(of_device) {}
  orStream(const orStream&) = delete;
  ~orStream();

  const int device;
  const int number;  // of the device; 0 is its default stream
  cl_command_queue queue = nullptr;

  std::mutex mutex;  // of what follows, and of the order of the commands
  // OpenCL: a queue has no query for idleness. Instead, each stream keeps the event of
  // its last command.
  oclrt::Command last;
  std::vector<oclrt::Command> holds;
  uint64_t enqueued = 0;
  oclrt::Command milestone;                 // see after_enqueue()
  std::shared_ptr<oclrt::HostThread> host;  // runs functions of the host
};

namespace oclrt {

using Stream = std::shared_ptr<orStream>;

orError_t make_stream(int device, Stream* stream);
// The stream of a handle, or the current device's default stream.
orError_t find_stream(orStream_t handle, Stream* stream);

Command last_of(orStream& stream);
void wait_for_device(int device);
// Releases every hold, and waits for all streams, but not longer than the limit.
void drain_streams(std::chrono::milliseconds limit);

// What enqueue() does after the command is in the queue.
orError_t after_enqueue(orStream& stream, const Command& command);

// LITERALINCLUDE START: ENQUEUE
// `add` enqueues commands and gives the event of the last one.
template <class Add>
orError_t enqueue(orStream& stream, const char* what, Add add,
                  Command* added = nullptr) {
  if (orError_t error = fault_of(stream.device)) return error;
  Command command;
  {
    const std::lock_guard lock(stream.mutex);
    cl_event event = nullptr;
    cl_int status = add(stream.queue, &event);
    if (status != CL_SUCCESS) return fail_cl(what, status);
    command = stream.last = Command(event);
    // Another queue may wait for the event, so the command must be on its way.
    status = clFlush(stream.queue);
    if (status != CL_SUCCESS) return fail_cl("clFlush", status);
  }
  if (added != nullptr) *added = command;
  return after_enqueue(stream, command);
}
// LITERALINCLUDE END: ENQUEUE

}  // namespace oclrt
