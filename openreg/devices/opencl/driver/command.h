// The event of an enqueued command, as an owner; see docs/opencl/driver.md.
#pragma once

#include <utility>

#include "api.h"

namespace oclrt {

// Owns one reference to an event of OpenCL, or is empty.
class Command {
 public:
  Command() = default;
  explicit Command(cl_event event) : event_(event) {}  // takes the reference over
  Command(const Command& other) : event_(other.event_) {
    if (event_ != nullptr) clRetainEvent(event_);
  }
  Command(Command&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Command& operator=(Command other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Command() {
    if (event_ != nullptr) clReleaseEvent(event_);
  }

  explicit operator bool() const { return event_ != nullptr; }
  cl_event get() const { return event_; }

 private:
  cl_event event_ = nullptr;
};

// orSuccess, orErrorNotReady, or the device fault if the command failed. An
// empty command is complete.
orError_t query(const Command& command, int device);
// Waits, and records a failure as a device fault.
void wait_for(const Command& command, int device);

}  // namespace oclrt
