// The allocator of pinned host memory: a cache; see docs/runtime/host-memory.md.
#include "csrc/runtime/memory/OpenRegHostAllocator.h"

#include <chrono>
#include <cstring>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

// Runs `call` and adds its time in microseconds to `stat`.
template <class Call>
auto timed(std::mutex& mutex, c10::CachingAllocator::DurationStat& stat, Call call) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  const auto result = call();
  const auto time = steady_clock::now() - start;
  const std::lock_guard lock(mutex);
  stat.increase(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  return result;
}

void delete_block(void* block);

using Interface =
    at::CachingHostAllocatorInterface<OpenRegHostAllocatorImpl, &delete_block>;

// In a forked child nothing is counted: the locks may never be released.
struct Allocator final : Interface {
  at::HostStats get_stats() override {
    return in_forked_child() ? at::HostStats() : Interface::get_stats();
  }
  void reset_accumulated_stats() override {
    if (!in_forked_child()) {
      Interface::reset_accumulated_stats();
    }
  }
  void reset_peak_stats() override {
    if (!in_forked_child()) {
      Interface::reset_peak_stats();
    }
  }
};

Allocator& instance() {
  // Never destroyed: tensors in static variables are freed after everything else.
  static auto* allocator = new Allocator;
  return *allocator;
}

// LITERALINCLUDE START: HOST_FREE
void delete_block(void* block) {
  if (!in_forked_child()) {  // there, the locks may never be released
    instance().free(block);
  }
}
// LITERALINCLUDE END: HOST_FREE

}  // namespace

HostEvent::~HostEvent() {
  if (event_ != nullptr) {
    static_cast<void>(orEventDestroy(event_));
  }
}

bool HostEvent::passed() noexcept {
  if (!recorded_) {
    record();
  }
  // An error means that the device is lost: its streams drop their work.
  return recorded_ && (event_ == nullptr || orEventQuery(event_) != orErrorNotReady);
}

// LITERALINCLUDE START: HOST_EVENT
void HostEvent::record() noexcept {
  const std::shared_lock no_capture_begins(capture_mutex());
  int previous = 0;
  int capturing = 0;
  orGetDevice(&previous);
  orSetDevice(stream_.device_index());  // a null handle means this device's stream
  orStreamIsCapturing(native_handle(stream_), &capturing);
  if (capturing == 0) {  // (1)
    if (orEventCreateWithFlags(&event_, orEventDisableTiming) == orSuccess &&
        orEventRecord(event_, native_handle(stream_)) != orSuccess) {
      orEventDestroy(event_);  // (2)
      event_ = nullptr;
    }
    recorded_ = true;
  }
  orSetDevice(previous);
}
// LITERALINCLUDE END: HOST_EVENT

std::pair<void*, void*> OpenRegHostAllocatorImpl::allocate(size_t size) {
  int device = 0;
  OPENREG_CHECK(orGetDevice(&device));  // throws in a forked child, before any lock
  return CachingHostAllocatorImpl::allocate(size);
}

// LITERALINCLUDE START: HOST_DRIVER
void OpenRegHostAllocatorImpl::allocate_host_memory(size_t size, void** ptr) {
  const RelaxedCaptureGuard relaxed;
  const auto allocate = [&] { return orMallocHost(ptr, size); };
  orError_t error = timed(stats_.timing_mutex_, stats_.host_alloc_time, allocate);
  if (error == orErrorMemoryAllocation) {  // (1)
    empty_cache();
    error = timed(stats_.timing_mutex_, stats_.host_alloc_time, allocate);
  }
  OPENREG_CHECK(error);
}

void OpenRegHostAllocatorImpl::free_block(HostBlock* block) {
  const RelaxedCaptureGuard relaxed;  // a capture may have begun since empty_cache()
  static_cast<void>(timed(stats_.timing_mutex_, stats_.host_free_time,
                          [&] { return orFreeHost(block->ptr_); }));  // (2)
}

// During a capture nothing waits for the device, and in a forked child there is none.
void OpenRegHostAllocatorImpl::empty_cache() {
  if (!in_forked_child() && !StreamCapture::any()) {
    CachingHostAllocatorImpl::empty_cache();
  }
}

void OpenRegHostAllocatorImpl::record_stream(
    std::optional<std::vector<HostEvent>>& events, c10::Stream stream) {
  events->emplace_back(stream);  // (3)
}
// LITERALINCLUDE END: HOST_DRIVER

c10::Stream OpenRegHostAllocatorImpl::get_current_stream() const {
  return current_stream(current_device());
}

bool OpenRegHostAllocatorImpl::stream_is_capturing(c10::Stream stream) const {
  const OpenRegGuard scope(stream.device_index());
  int capturing = 0;
  OPENREG_CHECK(orStreamIsCapturing(native_handle(stream), &capturing));
  return capturing != 0;
}

void OpenRegHostAllocatorImpl::copy_data(void* dst, const void* src,
                                         size_t count) const {
  std::memcpy(dst, src, count);
}

at::HostAllocator& host_allocator() { return instance(); }

// VENDOR: whether your device copies pinned memory faster
// LITERALINCLUDE START: REGISTER_HOST_ALLOCATOR
REGISTER_HOST_ALLOCATOR(at::kPrivateUse1, &host_allocator())
// LITERALINCLUDE END: REGISTER_HOST_ALLOCATOR

}  // namespace openreg
