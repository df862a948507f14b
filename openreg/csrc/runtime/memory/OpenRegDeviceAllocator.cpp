// The device allocator: torch's interface to device memory; see docs/runtime/memory.md.
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"

#include <algorithm>

#include "csrc/runtime/device/OpenRegRegistration.h"
#include "csrc/runtime/device/OpenRegTrace.h"

namespace openreg {
namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

}  // namespace

OpenRegDeviceAllocator& OpenRegDeviceAllocator::get() {
  // Never destroyed: tensors in static variables are freed after everything else.
  static auto* allocator = new OpenRegDeviceAllocator;
  return *allocator;
}

std::deque<DeviceCachingAllocator>& OpenRegDeviceAllocator::caches() {
  c10::call_once(made_, [this] {
    std::deque<DeviceCachingAllocator> caches;
    for (DeviceIndex index = 0; index < device_count(); ++index) {
      caches.emplace_back(index, free_more_);  // throws for a bad PYTORCH_ALLOC_CONF
    }
    caches_.swap(caches);
    ready_ = true;
  });
  return caches_;
}

DeviceCachingAllocator& OpenRegDeviceAllocator::cache_of(DeviceIndex device) {
  auto& all = caches();
  check_device_index(device);
  return all[static_cast<size_t>(device)];
}

c10::DataPtr OpenRegDeviceAllocator::allocate(size_t bytes) {
  return allocate_from(bytes, /*shared=*/false);
}

c10::DataPtr OpenRegDeviceAllocator::allocate_shared(size_t bytes) {
  return allocate_from(bytes, /*shared=*/true);
}

// LITERALINCLUDE START: ALLOCATE
c10::DataPtr OpenRegDeviceAllocator::allocate_from(size_t bytes, bool shared) {
  const DeviceIndex device = current_device();  // (1)
  const c10::Device where(kType, device);
  if (bytes == 0) {
    return {nullptr, nullptr, raw_deleter(), where};  // (2)
  }
  void* ptr = cache_of(device).allocate(bytes, current_stream(device), shared)->ptr;
  if (c10::memoryProfilingEnabled()) {
    report(ptr, static_cast<int64_t>(bytes), device);  // (3)
  }
  trace(&PyTrace::trace_gpu_memory_allocation, ptr);
  return {ptr, ptr, raw_deleter(), where};  // (4)
}
// LITERALINCLUDE END: ALLOCATE

// LITERALINCLUDE START: RELEASE
void OpenRegDeviceAllocator::release(void* ptr) {
  if (in_forked_child()) {
    return;  // (1)
  }
  trace(&PyTrace::trace_gpu_memory_deallocation, ptr);
  int current = 0;
  orGetDevice(&current);
  const size_t count = caches_.size();
  for (size_t i = 0; i < count; ++i) {  // (2)
    const size_t device = (static_cast<size_t>(current) + i) % count;
    DeviceCachingAllocator& cache = caches_[device];
    if (const auto bytes = cache.free(ptr, cache.caller())) {
      if (c10::memoryProfilingEnabled()) {
        report(ptr, -static_cast<int64_t>(*bytes), static_cast<DeviceIndex>(device));
      }
      return;
    }
  }
  TORCH_CHECK(false, "invalid device pointer: ", ptr,
              ": it is not the address of memory in use");
}
// LITERALINCLUDE END: RELEASE

void OpenRegDeviceAllocator::report(void* ptr, int64_t bytes, DeviceIndex device) {
  const auto [allocated, reserved] = cache_of(device).bytes();
  c10::reportMemoryUsageToProfiler(ptr, bytes, static_cast<size_t>(allocated.current),
                                   static_cast<size_t>(reserved.current),
                                   c10::Device(kType, device));
}

c10::DeleterFnPtr OpenRegDeviceAllocator::raw_deleter() const {
  return [](void* ptr) {
    if (ptr != nullptr) {
      get().release(ptr);
    }
  };
}

void OpenRegDeviceAllocator::copy_data(void* dst, const void* src,
                                       std::size_t count) const {
  const orStream_t stream = native_handle(current_stream(current_device()));
  OPENREG_CHECK(orMemcpyAsync(dst, src, count, orMemcpyDeviceToDevice, stream));
}

bool OpenRegDeviceAllocator::initialized() { return !in_forked_child(); }

void OpenRegDeviceAllocator::emptyCache(c10::MempoolId_t pool) {
  if (!ready_ || in_forked_child()) {
    return;
  }
  for (DeviceCachingAllocator& cache : caches_) {
    cache.empty(pool);
  }
}

void OpenRegDeviceAllocator::recordStream(const c10::DataPtr& ptr, c10::Stream stream) {
  if (in_forked_child()) {
    return;  // as in release(): the lock may never be released
  }
  TORCH_CHECK_VALUE(stream.device_type() == kType,
                    "openreg: record_stream() of memory of an openreg device with ",
                    stream, ": name the openreg stream whose work uses the memory");
  cache_of(ptr.device().index()).record_stream(ptr.get(), stream);
}

DeviceStats OpenRegDeviceAllocator::getDeviceStats(DeviceIndex device) {
  return cache_of(device).stats();
}

void OpenRegDeviceAllocator::resetAccumulatedStats(DeviceIndex device) {
  cache_of(device).reset_accumulated_stats();
}

void OpenRegDeviceAllocator::resetPeakStats(DeviceIndex device) {
  cache_of(device).reset_peak_stats();
}

std::pair<size_t, size_t> OpenRegDeviceAllocator::getMemoryInfo(DeviceIndex device) {
  return cache_of(device).memory_info();
}

c10::MempoolId_t OpenRegDeviceAllocator::new_pool() {
  static std::atomic<c10::CaptureId_t> last = 0;
  return {0, ++last};  // the first number is for pools that belong to a graph
}

c10::MempoolId_t OpenRegDeviceAllocator::new_graph_pool() {
  static std::atomic<c10::CaptureId_t> last = 0;
  return {++last, 0};
}

void OpenRegDeviceAllocator::record_history(const HistorySettings& settings,
                                            bool clear) {
  refuse_in_forked_child();
  for (DeviceCachingAllocator& cache : caches()) {
    cache.record_history(settings, clear);
  }
}

MemorySnapshot OpenRegDeviceAllocator::snapshot() {
  MemorySnapshot result;
  if (!ready_ || !initialized()) {
    return result;
  }
  for (DeviceCachingAllocator& cache : caches_) {
    auto segments = cache.segments();
    std::move(segments.begin(), segments.end(), std::back_inserter(result.segments));
    result.device_traces.push_back(cache.history());
  }
  return result;
}

// VENDOR: this caching allocator, or a pool that your driver keeps
// LITERALINCLUDE START: REGISTER_ALLOCATOR
namespace {
const Registration allocator_registered("the allocator", [] {
  c10::SetAllocator(kType, &OpenRegDeviceAllocator::get());
});
}  // namespace
// LITERALINCLUDE END: REGISTER_ALLOCATOR

}  // namespace openreg
