// Splits, merges and ends groups; see docs/modules/distributed-groups.md.
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <utility>

#include "csrc/distributed/ProcessGroupOCCL.h"

namespace openreg {
namespace {

// The group of the CPU tensors may be made from the same store.
c10::intrusive_ptr<c10d::Store> own_keys(c10::intrusive_ptr<c10d::Store> store) {
  return c10::make_intrusive<c10d::PrefixStore>("occl", std::move(store));
}

}  // namespace

// LITERALINCLUDE START: OCCL_SPLIT
c10::intrusive_ptr<c10d::Backend> ProcessGroupOCCL::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& options) {
  const auto keys = own_keys(store);
  auto host = host_->split(keys, ranks, options);
  return host ? c10::make_intrusive<ProcessGroupOCCL>(keys, std::move(host)) : nullptr;
}
// LITERALINCLUDE END: OCCL_SPLIT

c10::intrusive_ptr<c10d::Backend> ProcessGroupOCCL::merge(
    const c10::intrusive_ptr<c10d::Store>& store,
    const c10::intrusive_ptr<Options>& options, const int& rank, const int& size) {
  const auto keys = own_keys(store);
  return c10::make_intrusive<ProcessGroupOCCL>(keys,
                                               host_->merge(keys, options, rank, size));
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

// LITERALINCLUDE START: OCCL_ABORT
void ProcessGroupOCCL::abort() {
  if (!state_->aborted.exchange(true)) {
    occlCommAbort(comm_);  // an error says that it was destroyed before
  }
}
// LITERALINCLUDE END: OCCL_ABORT

// LITERALINCLUDE START: OCCL_SHUTDOWN
void ProcessGroupOCCL::shutdown() {
  shut_down_ = true;  // (1)
  std::vector<OrderedStreams*> all;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, streams] : streams_) {
      all.push_back(&streams);
    }
  }
  for (OrderedStreams* each : all) {
    const auto streams = [&] {
      const std::lock_guard order(each->order);  // (2)
      return each->streams;
    }();
    for (const auto& [device, stream] : streams) {  // (3)
      try {
        stream.synchronize();
      } catch (const std::exception&) {
        // A fault of this device: every call that waits for the device reports it. Work
        // on another device must still complete.
      }
    }
  }
  occlCommDestroy(comm_);  // an error says that it was destroyed or aborted before
}
// LITERALINCLUDE END: OCCL_SHUTDOWN

void ProcessGroupOCCL::startCoalescing() {
  decltype(coalesced_) old;  // left by an exception; destroyed after the lock
  const std::lock_guard lock(mutex_);
  old.swap(coalesced_);
  coalesced_.emplace();
}

// LITERALINCLUDE START: OCCL_COALESCE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::endCoalescing() {
  const auto works = [&] {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(coalesced_,
                "occl: endCoalescing() without startCoalescing(): call "
                "startCoalescing() first");
    return *std::exchange(coalesced_, std::nullopt);
  }();
  if (works.empty()) {
    return nullptr;
  }
  const c10::DeviceIndex device = works.front()->device_index();
  for (const auto& work : works) {
    TORCH_CHECK_VALUE(work->device_index() == device,
                      "occl: coalesced calls return one Work and must use one device, "
                      "but got tensors on openreg:",
                      int{device}, " and on openreg:", int{work->device_index()});
  }
  OrderedStreams& streams = streams_of({kJoin, -1, 0});
  const std::lock_guard order(streams.order);
  return WorkOCCL::join(getRank(), streams.on(device), works);
}
// LITERALINCLUDE END: OCCL_COALESCE

}  // namespace openreg
