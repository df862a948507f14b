// Capture: recording tasks instead of running them. See docs/start/architecture.md.
#pragma once

#include <memory>

#include "openreg.h"
#include "task.h"

namespace openreg::driver {

class Device;
class Stream;
struct CapturedMark;  // the record of an event inside a capture

// For streams that are capturing: appends a task, or makes the mark of an event record.
orError_t captureTask(Stream& stream, Task&& task);
orError_t captureMark(Stream& stream, std::shared_ptr<CapturedMark>* mark);
// Makes `stream` wait for a mark of a capture: it joins that capture if it is in none.
orError_t captureJoin(Stream& stream, const CapturedMark& mark);

// The checks. Each failure invalidates the capture that it protects:
// orStreamEndCapture() then reports which call it was. A call that would wait fails
// while a capture forbids it, see orStreamCaptureMode. orSuccess when the call is
// allowed.
orError_t refuseWait();
orError_t refuseWaitFor(Stream& stream);
orError_t refuseWaitFor(Device& device);
orError_t refuseOnCapturing(Stream& stream);
orError_t refuseOnCaptured(const CapturedMark& mark);
orError_t refuseOutsideMark(Stream& stream);
orError_t refusePageable(Stream& stream);

}  // namespace openreg::driver
