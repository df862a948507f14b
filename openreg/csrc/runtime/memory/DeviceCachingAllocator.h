// The memory of one device: segments, pools, streams; see docs/runtime/memory.md.
#pragma once

#include <c10/util/flat_hash_map.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "csrc/Export.h"
#include "csrc/runtime/memory/BlockPool.h"
#include "csrc/runtime/memory/MemoryHistory.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

// Called without locks when a device has no memory left; may free some, and returns
// whether it did. Set by OpenRegIpc.cpp, for memory that other processes have released.
using FreeMore = std::atomic<bool (*)()>;

struct MemoryBytes {
  c10::CachingAllocator::Stat allocated;
  c10::CachingAllocator::Stat reserved;
};

// Whether allocations for a stream go to a private pool.
using StreamFilter = std::function<bool(const c10::Stream&)>;

// LITERALINCLUDE START: RULES
// The rules, each with a test in openreg/tests/runtime/test_memory_rules.py:
//
// 1. Each device has a lock. It is held for some hundred nanoseconds and never during a
//    wait: not for the device, not for room in a stream, not for the GIL of Python.
// 2. What waits for the device (orFree, orDeviceSynchronize) happens under
//    `device_alloc_mutex_`. Only requests that no cached block fits, and empty_cache(),
//    take it. Order: `device_alloc_mutex_`, then the lock.
// 3. Whatever may run Python comes before the locks (the stack of the caller) or after
//    them (profiler, GPU trace, exceptions).
// 4. A kernel allocates nothing and needs no GIL: a thread that waits for it may hold
//    `device_alloc_mutex_`, and may have come from Python.
// 5. free() waits for nothing and throws nothing: it runs in destructors, on any
//    thread, often with the GIL.
// LITERALINCLUDE END: RULES
class OPENREG_EXPORT DeviceCachingAllocator {
 public:
  DeviceCachingAllocator(DeviceIndex device, const FreeMore& free_more);

  // A block of at least `bytes` for `stream`. Throws c10::OutOfMemoryError. With
  // `shared`, from the default pool, even if allocations for the stream go to a private
  // pool.
  Block* allocate(size_t bytes, const c10::Stream& stream, bool shared = false);
  // Frees the memory at `ptr`. Returns the number of requested bytes, or nothing if the
  // memory is not on this device.
  std::optional<size_t> free(const void* ptr,
                             const std::shared_ptr<c10::GatheredContext>& who) noexcept;
  // Work of `stream` uses the memory at `ptr`, if it is of this device.
  void record_stream(const void* ptr, const c10::Stream& stream);
  // Returns every completely free segment to the driver: the segments of `pool`, or
  // with {0, 0} of all pools without an owner. Waits for the device.
  void empty(c10::MempoolId_t pool);

  // As for c10::DeviceAllocator. The counters of a pool survive it until a reset.
  DeviceStats stats();
  void reset_accumulated_stats();
  void reset_peak_stats();
  // The two lines of stats() that every allocation reports. stats() copies all lines,
  // which takes longer the more pools there were.
  MemoryBytes bytes();
  std::pair<size_t, size_t> memory_info() const;
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments();
  void record_history(const HistorySettings& settings, bool clear);
  std::vector<TraceEntry> history();
  // Finds the caller, for free(). Call it before any lock.
  std::shared_ptr<c10::GatheredContext> caller() const {
    return history_.who(RecordContext::ALL);
  }
  // Share of the device's memory that this process may reserve. ValueError unless from
  // 0 to 1.
  void set_fraction(double fraction);
  double fraction() const { return fraction_; }

  // Private pools, for graphs: their addresses must stay theirs. Allocations of streams
  // that pass `filter` come from the pool, from begin to end; while that lasts, the
  // allocator neither waits nor polls events. The filter runs under the lock.
  // Each begin and retain needs a release; the segments of a pool without users go back
  // with empty(). ValueError for a pool that is not there. An end belongs to the latest
  // begin of its thread, if this thread has begun. In a forked child, end and release
  // do nothing and the others throw.
  void begin_pool(c10::MempoolId_t id, StreamFilter filter);
  void end_pool(c10::MempoolId_t id);
  void retain_pool(c10::MempoolId_t id);
  void release_pool(c10::MempoolId_t id);
  bool has_pool(c10::MempoolId_t id);  // with users

 private:
  struct Pools {
    Pools(c10::MempoolId_t id, DeviceStats& stats)
        : small(true, id, stats), large(false, id, stats) {}
    BlockPool small;
    BlockPool large;
    int users = 0;
    size_t segments = 0;
  };
  struct Request {
    size_t bytes;
    AllocParams fit;
    c10::Stream stream;
    std::shared_ptr<c10::GatheredContext> who;
    bool shared;
  };

  struct Recording {
    c10::MempoolId_t id;
    StreamFilter filter;
    std::thread::id thread;
  };

  using StreamKey = std::pair<DeviceIndex, c10::StreamId>;

  // With `device_alloc_mutex_`, without the lock:
  Block* alloc_block(const Request& request, orError_t& error);
  Block* attempt(const Request& request, size_t size, orError_t& error);
  void wait_for_streams();
  void release_blocks(const std::vector<Block*>& segments);
  // Without locks: counts and reports that there is no memory.
  [[noreturn]] void out_of_memory(const Request& request);
  void mark_streams(Block* block) noexcept;
  // With the lock:
  Block* find(const Request& request);
  Block* hand_out(Block* block, const Request& request);
  BlockPool& pool_for(const Request& request);
  void finish_free(Block* block);
  void process_events();
  void forget_dead_pools();
  std::vector<Block*> take_idle(c10::MempoolId_t pool);
  std::vector<Block*> take_oversize(const Request& request);
  std::vector<Block*> take_old(const Request& request);
  void trace(TraceEntry::Action action, const Block& block, size_t size,
             const std::shared_ptr<c10::GatheredContext>& who);

  const DeviceIndex device_;
  const size_t total_;  // bytes of the device
  const FreeMore& free_more_;
  std::mutex device_alloc_mutex_;
  std::mutex lock_;                               // "the lock"
  ska::flat_hash_map<const void*, Block*> live_;  // every block that a tensor has
  MemoryHistory history_;
  DeviceStats stats_;
  Pools common_;
  std::map<c10::MempoolId_t, Pools> private_;
  std::vector<Recording> recording_;
  std::map<void*, Block*> segments_;  // the first block of each, by address
  std::map<StreamKey, std::deque<std::pair<orEvent_t, Block*>>> events_;
  std::vector<Block*> unmarked_;  // freed, but a stream refused an event
  std::vector<Block*> deferred_;  // freed during a capture, which forbids events
  std::atomic<double> fraction_;
};

}  // namespace openreg
