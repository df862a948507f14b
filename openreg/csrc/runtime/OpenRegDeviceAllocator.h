// The device allocator: a cache in stream order; see docs/operators/minimal.md.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "csrc/runtime/OpenRegStream.h"

namespace openreg {

// A piece of device memory from orMalloc, in use or cached.
struct Block {
  void* ptr;
  size_t size;         // bytes of the block, rounded up
  size_t requested;    // bytes that were asked for; 0 while cached
  c10::Stream stream;  // on which it was allocated, and on which it is reused
  std::vector<c10::Stream> used_on;  // other streams, told by record_stream
  std::vector<orEvent_t> pending;    // their marks, after the block was freed
};

// Why a cache: a kernel may still be running when the last reference to its tensor
// dies. orFree would have to wait for it. A block that goes back to the stream on which
// it was allocated needs no wait: whoever gets it next enqueues its work behind that
// kernel.
//
// Follows c10/core/CachingDeviceAllocator.h. Thread safe: one lock. emptyCache() and a
// request that finds the device full hold it while they wait for the device, so a
// kernel must not allocate device memory, and must not need the GIL. No member needs
// the GIL.
class OpenRegDeviceAllocator final : public c10::DeviceAllocator {
 public:
  static OpenRegDeviceAllocator& get();

  // `bytes` of memory on the current device, for its current stream. Zero bytes give a
  // null pointer that still has the device. Throws c10::OutOfMemoryError.
  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dst, const void* src, std::size_t count) const override;

  bool initialized() override { return true; }
  // Gives cached blocks back to the driver; waits for the streams that still use them.
  void emptyCache(c10::MempoolId_t pool = {0, 0}) override;
  // Work enqueued on `stream` so far uses `ptr`: do not reuse it before that is done.
  void recordStream(const c10::DataPtr& ptr, c10::Stream stream) override;

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex device) override;
  void resetAccumulatedStats(DeviceIndex device) override;
  void resetPeakStats(DeviceIndex device) override;
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex device) override;

 private:
  // Cached blocks of one device, by stream and size. Sizes are rounded to classes, so a
  // block of the right class is one lookup away. Emptied lists stay: they fill up
  // again.
  using Key = std::pair<c10::StreamId, size_t>;
  struct DeviceCache {
    std::map<Key, std::vector<Block*>> free;
    std::vector<Block*> waiting;  // freed, but other streams may still use them
    c10::CachingDeviceAllocator::DeviceStats stats;
  };

  Block* take(DeviceCache& cache, const c10::Stream& stream, size_t size);
  Block* create(DeviceCache& cache, const c10::Stream& stream, size_t size);
  void release(void* ptr);
  void reclaim(DeviceCache& cache, bool wait);
  void empty(DeviceCache& cache);
  DeviceCache& cache_of(DeviceIndex device);

  std::mutex mutex_;
  std::vector<DeviceCache> caches_;                 // by device index
  std::unordered_map<const void*, Block*> blocks_;  // all of them, by address
};

}  // namespace openreg
