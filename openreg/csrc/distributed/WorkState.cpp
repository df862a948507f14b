// What is known of an operation while it runs, and after; see
// docs/modules/distributed-debugging.md.
#include <algorithm>

#include "csrc/distributed/WorkOCCL.h"

namespace openreg {
namespace {

uint64_t next_key() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

// LITERALINCLUDE START: OCCL_WORK_EVENTS
WorkState::WorkState(c10::DeviceType type, bool timed, std::vector<Ptr> parts)
    : parts_(std::move(parts)),
      timed_(timed),
      key_(next_key()),
      start_(type,
             timed ? c10::EventFlag::BACKEND_DEFAULT : c10::EventFlag::PYTORCH_DEFAULT),
      end_(type, start_.flag()) {}

void WorkState::record_start(const c10::Stream& stream) {
  start_.record(stream);
  started_here_ = true;
}

void WorkState::record_end(const c10::Stream& stream) {
  end_.record(stream);
  ended_here_ = true;
}
// LITERALINCLUDE END: OCCL_WORK_EVENTS

void WorkState::succeed(int source) {
  const std::lock_guard lock(mutex_);
  source_ = source;
  succeeded_ = true;
}

void WorkState::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
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

// LITERALINCLUDE START: OCCL_WORK_STAGE
WorkState::Stage WorkState::stage() const {
  {
    const std::lock_guard lock(mutex_);
    if (succeeded_) {
      return Stage::kCompleted;
    }
    if (error_ != nullptr) {
      return Stage::kStarted;  // it ran, and did not come to its end
    }
  }
  return started_here_ && start_.query() ? Stage::kStarted : Stage::kScheduled;
}
// LITERALINCLUDE END: OCCL_WORK_STAGE

std::optional<float> WorkState::duration() const {
  if (parts_.empty()) {
    const bool known = timed_ && ended_here_ && stage() == Stage::kCompleted;
    return known && end_.query() ? std::optional<float>(start_.elapsedTime(end_))
                                 : std::nullopt;
  }
  std::optional<float> longest = 0;
  for (const Ptr& part : parts_) {
    const std::optional<float> one = part->duration();
    longest = one && longest ? std::max(one, longest) : std::nullopt;
  }
  return longest;
}

}  // namespace openreg
