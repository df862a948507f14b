// The device allocator: a cache in stream order; see docs/operators/minimal.md.
#include "csrc/runtime/OpenRegDeviceAllocator.h"

#include <algorithm>
#include <bit>

namespace openreg {
namespace {

constexpr size_t kMinBlock = 512;  // the driver's alignment

// Rounds up to a size class, so that tensors of about the same size can use each
// other's memory. There are eight classes for each power of two: an eighth at most is
// wasted.
size_t round_size(size_t bytes) {
  const size_t step = std::max(kMinBlock, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

template <class Change>
void update(c10::CachingAllocator::StatArray& stats, Change change) {
  change(stats[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)]);
}

void add(c10::CachingAllocator::StatArray& stats, size_t amount) {
  update(stats, [&](auto& stat) { stat.increase(amount); });
}

void subtract(c10::CachingAllocator::StatArray& stats, size_t amount) {
  update(stats, [&](auto& stat) { stat.decrease(amount); });
}

// Every array of DeviceStats that this allocator fills.
template <class Change>
void for_each(c10::CachingDeviceAllocator::DeviceStats& stats, Change change) {
  for (auto* array :
       {&stats.allocation, &stats.segment, &stats.active, &stats.allocated_bytes,
        &stats.reserved_bytes, &stats.active_bytes, &stats.requested_bytes}) {
    update(*array, change);
  }
}

// The driver refuses everything in a child that was forked after it had started.
bool in_forked_child() noexcept {
  int device = 0;
  return orGetDevice(&device) == orErrorInitializationError;
}

// An event behind the present work of `stream`. Null if the stream will never run
// again, because its device has a fault or because this is a forked child: then nobody
// can use the memory either. Memory is freed in destructors, so this must not throw.
orEvent_t mark_end_of(const c10::Stream& stream) noexcept {
  int previous = 0;
  orEvent_t event = nullptr;
  if (orGetDevice(&previous) != orSuccess ||
      orSetDevice(stream.device_index()) != orSuccess) {
    return nullptr;
  }
  if (orEventCreateWithFlags(&event, orEventDisableTiming) == orSuccess &&
      orEventRecord(event, handle(stream)) != orSuccess) {
    orEventDestroy(event);
    event = nullptr;
  }
  orSetDevice(previous);
  return event;
}

}  // namespace

OpenRegDeviceAllocator& OpenRegDeviceAllocator::get() {
  // Never destroyed: tensors in static variables are freed after everything else.
  static auto* allocator = new OpenRegDeviceAllocator;
  return *allocator;
}

OpenRegDeviceAllocator::DeviceCache& OpenRegDeviceAllocator::cache_of(
    DeviceIndex device) {
  if (caches_.empty()) {
    caches_.resize(static_cast<size_t>(device_count()));
  }
  check_device_index(device);
  return caches_[static_cast<size_t>(device)];
}

// LITERALINCLUDE START: ALLOCATE
c10::DataPtr OpenRegDeviceAllocator::allocate(size_t bytes) {
  const DeviceIndex device = current_device();  // (1)
  const c10::Device where(c10::DeviceType::PrivateUse1, device);
  if (bytes == 0) {
    return {nullptr, nullptr, raw_deleter(), where};  // (2)
  }
  const c10::Stream stream = current_stream(device);
  const std::lock_guard lock(mutex_);
  DeviceCache& cache = cache_of(device);
  Block* block = take(cache, stream, round_size(bytes));  // (3)
  block->requested = bytes;
  add(cache.stats.allocation, 1);
  add(cache.stats.allocated_bytes, block->size);
  add(cache.stats.requested_bytes, bytes);
  add(cache.stats.active, 1);
  add(cache.stats.active_bytes, block->size);
  return {block->ptr, block->ptr, raw_deleter(), where};  // (4)
}
// LITERALINCLUDE END: ALLOCATE

Block* OpenRegDeviceAllocator::take(DeviceCache& cache, const c10::Stream& stream,
                                    size_t size) {
  if (!cache.waiting.empty()) {
    reclaim(cache, /*wait=*/false);
  }
  std::vector<Block*>& cached = cache.free[{stream.id(), size}];
  if (cached.empty()) {
    return create(cache, stream, size);
  }
  Block* block = cached.back();
  cached.pop_back();
  return block;
}

Block* OpenRegDeviceAllocator::create(DeviceCache& cache, const c10::Stream& stream,
                                      size_t size) {
  const DeviceScope scope(stream.device_index());
  void* ptr = nullptr;
  orError_t error = orMalloc(&ptr, size);
  if (error == orErrorMemoryAllocation) {  // our own cache may be what fills the device
    cache.stats.num_alloc_retries += 1;
    empty(cache);
    error = orMalloc(&ptr, size);
  }
  if (error == orErrorMemoryAllocation) {
    cache.stats.num_ooms += 1;
    size_t free = 0;
    size_t total = 0;
    orMemGetInfo(&free, &total);
    const auto& allocated = cache.stats.allocated_bytes[0];
    TORCH_CHECK_WITH(
        OutOfMemoryError, false,
        "openreg: out of memory on openreg:", static_cast<int>(stream.device_index()),
        ": tried to allocate ", size, " bytes; the device has ", total,
        " bytes, of which ", free, " are free; tensors hold ", allocated.current,
        " bytes. Free tensors, or give the simulated device more memory with "
        "OPENREG_DEVICE_MEMORY");
  }
  OPENREG_CHECK(error);
  cache.stats.num_device_alloc += 1;
  add(cache.stats.segment, 1);
  add(cache.stats.reserved_bytes, size);
  return blocks_[ptr] = new Block{ptr, size, 0, stream, {}, {}};
}

// LITERALINCLUDE START: RELEASE
void OpenRegDeviceAllocator::release(void* ptr) {
  if (in_forked_child()) {
    return;  // the memory is the parent's, and a thread of it may have held the lock
  }
  const std::lock_guard lock(mutex_);
  Block* block = blocks_.at(ptr);
  DeviceCache& cache = cache_of(block->stream.device_index());
  subtract(cache.stats.allocation, 1);
  subtract(cache.stats.allocated_bytes, block->size);
  subtract(cache.stats.requested_bytes, block->requested);
  block->requested = 0;
  if (block->used_on.empty()) {  // (1)
    subtract(cache.stats.active, 1);
    subtract(cache.stats.active_bytes, block->size);
    cache.free[{block->stream.id(), block->size}].push_back(block);
    return;
  }
  for (const c10::Stream& stream : block->used_on) {  // (2)
    if (orEvent_t event = mark_end_of(stream)) {
      block->pending.push_back(event);
    }
  }
  block->used_on.clear();
  cache.waiting.push_back(block);
}
// LITERALINCLUDE END: RELEASE

void OpenRegDeviceAllocator::reclaim(DeviceCache& cache, bool wait) {
  std::erase_if(cache.waiting, [&](Block* block) {
    std::erase_if(block->pending, [&](orEvent_t event) {
      const orError_t state = wait ? orEventSynchronize(event) : orEventQuery(event);
      if (state == orErrorNotReady) {
        return false;
      }
      orEventDestroy(event);  // done, or the device is lost: either way nobody writes
      return true;
    });
    if (!block->pending.empty()) {
      return false;
    }
    subtract(cache.stats.active, 1);
    subtract(cache.stats.active_bytes, block->size);
    cache.free[{block->stream.id(), block->size}].push_back(block);
    return true;
  });
}

void OpenRegDeviceAllocator::empty(DeviceCache& cache) {
  reclaim(cache, /*wait=*/true);
  for (auto& [key, blocks] : cache.free) {
    for (; !blocks.empty(); blocks.pop_back()) {
      Block* block = blocks.back();
      OPENREG_CHECK(orFree(block->ptr));  // waits for the device
      cache.stats.num_device_free += 1;
      subtract(cache.stats.segment, 1);
      subtract(cache.stats.reserved_bytes, block->size);
      blocks_.erase(block->ptr);
      delete block;
    }
  }
  cache.free.clear();
}

void OpenRegDeviceAllocator::emptyCache(c10::MempoolId_t) {
  if (in_forked_child()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (DeviceCache& cache : caches_) {
    empty(cache);
  }
}

void OpenRegDeviceAllocator::recordStream(const c10::DataPtr& ptr, c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  const auto entry = blocks_.find(ptr.get());
  if (entry == blocks_.end()) {
    return;  // zero bytes, or memory that is not ours: nothing that we could reuse
  }
  Block* block = entry->second;
  auto& used_on = block->used_on;
  if (stream != block->stream &&
      std::find(used_on.begin(), used_on.end(), stream) == used_on.end()) {
    used_on.push_back(stream);
  }
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
  const orStream_t stream = handle(current_stream(current_device()));
  OPENREG_CHECK(orMemcpyAsync(dst, src, count, orMemcpyDeviceToDevice, stream));
}

c10::CachingDeviceAllocator::DeviceStats OpenRegDeviceAllocator::getDeviceStats(
    DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  return cache_of(device).stats;
}

void OpenRegDeviceAllocator::resetAccumulatedStats(DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  auto& stats = cache_of(device).stats;
  for_each(stats, [](auto& stat) { stat.reset_accumulated(); });
  stats.num_alloc_retries = stats.num_ooms = 0;
  stats.num_device_alloc = stats.num_device_free = 0;
}

void OpenRegDeviceAllocator::resetPeakStats(DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  for_each(cache_of(device).stats, [](auto& stat) { stat.reset_peak(); });
}

std::pair<size_t, size_t> OpenRegDeviceAllocator::getMemoryInfo(DeviceIndex device) {
  const DeviceScope scope(device);
  size_t free = 0;
  size_t total = 0;
  OPENREG_CHECK(orMemGetInfo(&free, &total));
  return {free, total};
}

// LITERALINCLUDE START: REGISTER_ALLOCATOR
namespace {
const bool registered = [] {
  c10::SetAllocator(c10::DeviceType::PrivateUse1, &OpenRegDeviceAllocator::get());
  return true;
}();
}  // namespace
// LITERALINCLUDE END: REGISTER_ALLOCATOR

}  // namespace openreg
