// The device allocator: torch's interface to device memory; see docs/runtime/memory.md.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/CallOnce.h>

#include "csrc/Export.h"
#include "csrc/runtime/memory/DeviceCachingAllocator.h"

namespace openreg {

// Everything that torch.openreg.memory._snapshot() shows.
struct MemorySnapshot {
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments;
  std::vector<std::vector<TraceEntry>> device_traces;  // by device
};

// Why a cache: a kernel may still be running when the last reference to its tensor is
// gone. orFree would have to wait for it. A block that is reused on the stream on which
// it was allocated needs no wait, because its next user enqueues work behind that
// kernel.
//
// Follows c10/core/CachingDeviceAllocator.h. Thread safe; the rules about locks and the
// GIL are in DeviceCachingAllocator.h. This class finds the device, and calls torch's
// observers.
class OPENREG_EXPORT OpenRegDeviceAllocator final : public c10::DeviceAllocator {
 public:
  static OpenRegDeviceAllocator& get();

  // `bytes` of memory on the current device, for its current stream. Zero bytes give a
  // null pointer that still has the device. Throws c10::OutOfMemoryError.
  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dst, const void* src, std::size_t count) const override;

  // False in a child that was forked after the driver had started. Torch then calls
  // nothing else, because a thread that the child does not have may hold a lock.
  bool initialized() override;
  // Returns cached segments to the driver; waits for the streams that use them.
  void emptyCache(c10::MempoolId_t pool = {0, 0}) override;
  // Work enqueued on `stream` so far uses `ptr`: do not reuse it before that is done.
  // ValueError for a stream of another type of device, torch.AcceleratorError for one
  // that is not live: no event could end the wait for it.
  void recordStream(const c10::DataPtr& ptr, c10::Stream stream) override;

  DeviceStats getDeviceStats(DeviceIndex device) override;
  void resetAccumulatedStats(DeviceIndex device) override;
  void resetPeakStats(DeviceIndex device) override;
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex device) override;

  // One device's memory: for what torch has no interface, such as private pools.
  // torch.AcceleratorError if there is no such device.
  DeviceCachingAllocator& cache_of(DeviceIndex device);
  // As allocate(), but never from a private pool.
  c10::DataPtr allocate_shared(size_t bytes);
  // An unused name for a private pool: for general use, or for a graph.
  static c10::MempoolId_t new_pool();
  static c10::MempoolId_t new_graph_pool();

  // What to try when a device is full; see FreeMore.
  void on_full(bool (*free_more)()) { free_more_ = free_more; }

  void record_history(const HistorySettings& settings, bool clear);
  MemorySnapshot snapshot();

 private:
  c10::DataPtr allocate_from(size_t bytes, bool shared);
  std::deque<DeviceCachingAllocator>& caches();
  void release(void* ptr);
  void report(void* ptr, int64_t bytes, DeviceIndex device);

  FreeMore free_more_ = nullptr;
  std::deque<DeviceCachingAllocator>
      caches_;  // by device index; made by the first request
  c10::once_flag made_;
  std::atomic<bool> ready_ = false;
};

}  // namespace openreg
