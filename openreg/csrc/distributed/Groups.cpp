// How groups come out of groups, and how they end; see
// docs/modules/distributed-groups.md.
#include <ATen/ops/empty.h>
#include <c10/util/ScopeExit.h>

#include <limits>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "csrc/distributed/ProcessGroupOCCL.h"

namespace openreg {
namespace {

// No message has this tag: see point_to_point().
constexpr int kNobody = std::numeric_limits<int>::max();

// The group of the CPU tensors may be made from the same store.
c10::intrusive_ptr<c10d::Store> own_keys(c10::intrusive_ptr<c10d::Store> store) {
  return c10::make_intrusive<c10d::PrefixStore>("occl", std::move(store));
}

}  // namespace

// LITERALINCLUDE START: OCCL_SPLIT
c10::intrusive_ptr<c10d::Backend> ProcessGroupOCCL::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& options) {
  auto carrier = carrier_->split(own_keys(store), ranks, options);
  return carrier ? c10::make_intrusive<ProcessGroupOCCL>(std::move(carrier)) : nullptr;
}
// LITERALINCLUDE END: OCCL_SPLIT

c10::intrusive_ptr<c10d::Backend> ProcessGroupOCCL::merge(
    const c10::intrusive_ptr<c10d::Store>& store,
    const c10::intrusive_ptr<Options>& options, const int& rank, const int& size) {
  return c10::make_intrusive<ProcessGroupOCCL>(
      carrier_->merge(own_keys(store), options, rank, size));
}

void ProcessGroupOCCL::check_not_over(const char* name) const {
  TORCH_CHECK_WITH(DistBackendError, !shut_down_ && !state_->aborted, name,
                   " was called on ", where(), ", after the group was ",
                   state_->aborted ? "aborted" : "destroyed");
}

uint64_t ProcessGroupOCCL::getSequenceNumberForGroup() {
  return static_cast<uint64_t>(collectives_);
}

std::string ProcessGroupOCCL::where() const {
  std::string text = c10::str("rank ", getRank(), " of ", getSize());
  if (!getGroupUid().empty()) {
    text += c10::str(" in group ", getGroupUid());
  }
  if (!getGroupDesc().empty() && getGroupDesc() != "undefined") {
    text += c10::str(" (", getGroupDesc(), ")");
  }
  return text;
}

// LITERALINCLUDE START: OCCL_ATTEMPT
void ProcessGroupOCCL::State::attempt(const std::string& who,
                                      std::chrono::milliseconds timeout,
                                      const std::function<void(Outcome&)>& run,
                                      Outcome& outcome) {
  const auto last = std::chrono::steady_clock::now() + timeout;
  std::string why = "the group was aborted";
  if (!aborted) {
    try {
      return run(outcome);
    } catch (const c10::Error& failure) {
      why = aborted ? why : failure.what_without_backtrace();
    } catch (const std::exception& failure) {
      why = aborted ? why : failure.what();
    }
  }
  const bool late = std::chrono::steady_clock::now() >= last;
  error = late ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR;
  const c10::DistBackendError failure({__func__, __FILE__, uint32_t{__LINE__}},
                                      who + why);
  outcome.fail(std::make_exception_ptr(failure));
  if (!aborted) {
    throw failure;
  }
}
// LITERALINCLUDE END: OCCL_ATTEMPT

void ProcessGroupOCCL::State::wait_for_any(const WorkPtr& message,
                                           std::chrono::milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(!aborted, "nobody waits any more");
    from_any_.insert(message);
  }
  const auto forget = c10::make_scope_exit([&] {
    const std::lock_guard lock(mutex_);
    from_any_.erase(message);
  });
  TORCH_CHECK(message->wait(timeout), "nobody waits any more");
}

void ProcessGroupOCCL::State::abort_messages() {
  const std::lock_guard lock(mutex_);
  for (const WorkPtr& message : from_any_) {
    message->abort();
  }
}

// LITERALINCLUDE START: OCCL_ABORT
void ProcessGroupOCCL::abort() {
  if (state_->aborted.exchange(true) || getSize() == 1) {
    return;
  }
  if (board_) {
    board_->fail(c10::str("rank ", getRank(), " called abort()"));
  }
  state_->abort_messages();
  // Gloo has no call to end what is under way. But it closes all connections of a group
  // when a receive is late, so wait for a message that nobody sends.
  Tensors nothing{at::empty({1}, at::kByte)};
  const int peer = getRank() == 0 ? 1 : 0;
  try {
    carrier_->recv(nothing, peer, kNobody)->wait(std::chrono::milliseconds(1));
  } catch (const std::exception&) {
    // As intended, or the connections were closed already.
  }
}
// LITERALINCLUDE END: OCCL_ABORT

// LITERALINCLUDE START: OCCL_SHUTDOWN
void ProcessGroupOCCL::shutdown() {
  shut_down_ = true;  // (1)
  std::vector<Lanes*> all;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [sequence, lanes] : lanes_) {
      all.push_back(&lanes);
    }
  }
  for (Lanes* lanes : all) {
    const auto streams = [&] {
      const std::lock_guard order(lanes->order);  // (2)
      return lanes->streams;
    }();
    for (const auto& [device, stream] : streams) {  // (3)
      try {
        stream.synchronize();
      } catch (const std::exception&) {
        // A fault of this device: every call that waits for the device reports it.
        // What another device has under way must still come to its end.
      }
    }
  }
  if (board_) {
    board_->leave();
  }
}
// LITERALINCLUDE END: OCCL_SHUTDOWN

void ProcessGroupOCCL::startCoalescing() {
  decltype(coalesced_) old;  // left by an exception; goes behind the lock
  const std::lock_guard lock(mutex_);
  old.swap(coalesced_);
  coalesced_.emplace();
}

// LITERALINCLUDE START: OCCL_COALESCE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::endCoalescing() {
  const auto works = [&] {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(coalesced_, "occl: endCoalescing() without startCoalescing()");
    return *std::exchange(coalesced_, std::nullopt);
  }();
  if (works.empty()) {
    return nullptr;
  }
  const c10::DeviceIndex device = works.front()->device_index();
  for (const auto& work : works) {
    TORCH_CHECK_VALUE(work->device_index() == device,
                      "occl: one Work is for tensors of one device, but the coalesced "
                      "calls got some on openreg:",
                      int{device}, " and on openreg:", int{work->device_index()});
  }
  Lanes& lanes = lanes_of({kJoin, -1, 0});
  const std::lock_guard order(lanes.order);
  return WorkOCCL::join(getRank(), lanes.on(device), works);
}
// LITERALINCLUDE END: OCCL_COALESCE

}  // namespace openreg
