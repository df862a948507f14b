// The state of an operation during and after its run; see
// docs/modules/distributed-debugging.md.
#include "csrc/distributed/WorkOCCL.h"

namespace openreg {
namespace {

uint64_t next_key() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

WorkState::WorkState(std::vector<Ptr> parts)
    : parts_(std::move(parts)), key_(next_key()) {}

void WorkState::succeed(int source) {
  const std::lock_guard lock(mutex_);
  source_ = source;
  succeeded_ = true;
}

void WorkState::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}

bool WorkState::succeeded() const {
  const std::lock_guard lock(mutex_);
  return succeeded_;
}

std::exception_ptr WorkState::error() const {
  for (const Ptr& part : parts_) {
    if (const std::exception_ptr error = part->error()) {
      return error;
    }
  }
  const std::lock_guard lock(mutex_);
  return error_;
}

int WorkState::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

// LITERALINCLUDE START: OCCL_WORK_EVENTS
WorkEvents::WorkEvents(c10::DeviceType type, bool timed, WorkState::Ptr state)
    : state_(std::move(state)),
      timed_(timed),
      start_(type,
             timed ? c10::EventFlag::BACKEND_DEFAULT : c10::EventFlag::PYTORCH_DEFAULT),
      end_(type, start_.flag()) {}

void WorkEvents::record_start(const c10::Stream& stream) {
  start_.record(stream);
  started_here_ = true;
}

void WorkEvents::record_end(const c10::Stream& stream) {
  end_.record(stream);
  ended_here_ = true;
}

WorkEvents::Stage WorkEvents::stage() const {
  if (state_->succeeded()) {
    return Stage::kCompleted;
  }
  const bool ran = state_->error() != nullptr;
  return ran || (started_here_ && start_.query()) ? Stage::kStarted : Stage::kScheduled;
}
// LITERALINCLUDE END: OCCL_WORK_EVENTS

bool WorkEvents::over() const {
  return state_->error() != nullptr ||
         (state_->succeeded() && ended_here_ && end_.query());
}

std::optional<float> WorkEvents::duration() const {
  const bool known = timed_ && state_->succeeded() && over();
  return known ? std::optional<float>(start_.elapsedTime(end_)) : std::nullopt;
}

}  // namespace openreg
