// One operation of a process group, in flight; see docs/modules/distributed.md.
#include "csrc/distributed/WorkOCCL.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <thread>

#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

// LITERALINCLUDE START: OCCL_WORK
WorkOCCL::WorkOCCL(int rank, c10d::OpType type, const char* name,
                   const c10::Stream& stream, WorkEvents::Ptr events,
                   std::vector<at::Tensor> outputs, bool host_waits, uint64_t sequence)
    : c10d::Work(rank, type),
      name_(name),
      events_(std::move(events)),
      outputs_(std::move(outputs)),
      host_waits_(host_waits),
      sequence_(sequence),
      future_(c10::make_intrusive<c10::ivalue::Future>(
          c10::ListType::create(c10::TensorType::get()),
          std::vector<c10::Device>{stream.device()})) {
  try {
    events_->record_end(stream);
  } catch (const std::exception&) {
    throw_if_failed();  // it has failed already; this error is more specific
    throw;
  }
  const c10::StreamGuard guard(stream);
  future_->markCompleted(c10::IValue(outputs_));
}
// LITERALINCLUDE END: OCCL_WORK

// LITERALINCLUDE START: OCCL_WAIT
void WorkOCCL::synchronize() {
  throw_if_failed();
  events_->end().block(current_stream(device_index()));
}

bool WorkOCCL::wait(std::chrono::milliseconds timeout) {
  synchronize();
  if (host_waits_ || timeout != kNoTimeout) {
    wait_on_host(timeout);
  }
  return true;
}
// LITERALINCLUDE END: OCCL_WAIT

c10::intrusive_ptr<WorkOCCL> WorkOCCL::join(
    int rank, const c10::Stream& stream,
    const std::vector<c10::intrusive_ptr<WorkOCCL>>& parts) {
  std::vector<WorkState::Ptr> states;
  std::vector<WorkEvents::Ptr> events;
  std::vector<at::Tensor> outputs;
  bool host_waits = false;
  for (const auto& part : parts) {
    part->events_->end().block(stream);
    states.push_back(part->events_->shared_state());
    events.push_back(part->events_);
    outputs.insert(outputs.end(), part->outputs_.begin(), part->outputs_.end());
    host_waits |= part->host_waits_;
  }
  const auto joined = std::make_shared<WorkEvents>(
      stream.device_type(), false, std::make_shared<WorkState>(std::move(states)));
  auto work = c10::make_intrusive<WorkOCCL>(rank, c10d::OpType::COALESCED,
                                            "occl::coalesced", stream, joined, outputs,
                                            host_waits, parts.back()->sequence_);
  work->parts_ = std::move(events);
  return work;
}

bool WorkOCCL::isCompleted() {
  return events_->state().error() != nullptr || events_->end().query();
}

bool WorkOCCL::isSuccess() const {
  return events_->state().error() == nullptr && events_->end().query();
}

std::exception_ptr WorkOCCL::exception() const { return events_->state().error(); }

int WorkOCCL::sourceRank() const {
  wait_on_host(kNoTimeout);
  return events_->state().source();
}

float WorkOCCL::getDuration() const {
  std::optional<float> duration = events_->duration();
  if (!parts_.empty()) {
    duration = 0;
    for (const WorkEvents::Ptr& part : parts_) {
      const std::optional<float> one = part->duration();
      duration = one && duration ? std::max(one, duration) : std::nullopt;
    }
  }
  TORCH_CHECK(
      duration.has_value(), name_,
      " has no duration: it has not completed, or the group did not measure "
      "it; call _enable_collectives_timing() of the group before the operation");
  return *duration;
}

void WorkOCCL::throw_if_failed() const {
  if (const std::exception_ptr error = events_->state().error()) {
    std::rethrow_exception(error);
  }
}

void WorkOCCL::wait_on_host(std::chrono::milliseconds timeout) const {
  if (timeout == kNoTimeout) {
    try {
      events_->end().synchronize();
    } catch (...) {
      throw_if_failed();  // more specific than the device's sticky error
      throw;
    }
  } else {
    const auto last = std::chrono::steady_clock::now() + timeout;
    while (events_->state().error() == nullptr && !events_->end().query()) {
      TORCH_CHECK_WITH(DistBackendError, std::chrono::steady_clock::now() < last, name_,
                       " has not completed within the ", timeout.count(),
                       " ms passed to wait(), and is still running");
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  throw_if_failed();
}

}  // namespace openreg
