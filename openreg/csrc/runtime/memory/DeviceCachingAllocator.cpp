// The memory of one device: segments, pools, streams; see docs/runtime/memory.md.
#include "csrc/runtime/memory/DeviceCachingAllocator.h"

#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <memory>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/memory/OpenRegAllocatorConfig.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

constexpr c10::MempoolId_t kNoPool{0, 0};

size_t address_of(const void* ptr) { return reinterpret_cast<size_t>(ptr); }

// An event behind the current work of `stream`; null if recording fails, because the
// device has a fault or the stream was destroyed. Runs in destructors: must not throw.
orEvent_t mark_end_of(const c10::Stream& stream) noexcept {
  int previous = 0;
  orEvent_t event = nullptr;
  if (orGetDevice(&previous) != orSuccess ||
      orSetDevice(stream.device_index()) != orSuccess) {
    return nullptr;
  }
  if (orEventCreateWithFlags(&event, orEventDisableTiming) == orSuccess &&
      orEventRecord(event, native_handle(stream)) != orSuccess) {
    orEventDestroy(event);
    event = nullptr;
  }
  orSetDevice(previous);
  return event;
}

}  // namespace

DeviceCachingAllocator::DeviceCachingAllocator(DeviceIndex device,
                                               const FreeMore& free_more)
    : device_(device),
      total_(device_properties(device).totalGlobalMem),
      free_more_(free_more),
      common_(kNoPool, stats_),
      fraction_(OpenRegAllocatorConfig::instance().memory_fraction.load()) {}

// LITERALINCLUDE START: ALLOCATE_BLOCK
Block* DeviceCachingAllocator::allocate(size_t bytes, const c10::Stream& stream,
                                        bool shared) {
  const Request request{bytes, fit_of(round_size(bytes)), stream,
                        history_.who(RecordContext::STATE), shared};  // (1)
  {
    const std::lock_guard lock(lock_);
    process_events();  // (2)
    if (Block* block = find(request)) {
      return hand_out(block, request);  // (3)
    }
  }
  orError_t error = orSuccess;
  if (Block* block = alloc_block(request, error)) {  // (4)
    return block;
  }
  if (error == orErrorMemoryAllocation) {
    const auto free_more = free_more_.load();
    if (free_more != nullptr && free_more()) {
      return allocate(bytes, stream, shared);  // (5)
    }
    out_of_memory(request);  // (6)
  }
  throwError(error, {__func__, __FILE__, uint32_t{__LINE__}});
}
// LITERALINCLUDE END: ALLOCATE_BLOCK

BlockPool& DeviceCachingAllocator::pool_for(const Request& request) {
  Pools* pools = &common_;
  for (const Recording& recording : recording_) {
    if (!request.shared && recording.filter(request.stream)) {
      pools = &private_.at(recording.id);
    }
  }
  const bool small = request.fit.size <= c10::CachingAllocator::kSmallSize;
  return small ? pools->small : pools->large;
}

Block* DeviceCachingAllocator::find(const Request& request) {
  return pool_for(request).get_free_block(request.stream.id(), request.fit);
}

Block* DeviceCachingAllocator::hand_out(Block* block, const Request& request) {
  const bool small = block->pool->small;
  block->allocated = true;
  block->requested = request.bytes;
  block->context = request.who;
  block->oversize = block->size >= request.fit.max_split_size;
  increase(stats_.allocation, small, 1);
  increase(stats_.allocated_bytes, small, block->size);
  increase(stats_.requested_bytes, small, block->requested);
  increase(stats_.active, small, 1);
  increase(stats_.active_bytes, small, block->size);
  if (block->oversize) {
    stats_.oversize_allocations.increase(1);
  }
  live_.emplace(block->ptr, block);
  trace(TraceEntry::ALLOC, *block, block->requested, block->context);
  return block;
}

// LITERALINCLUDE START: GROW
Block* DeviceCachingAllocator::alloc_block(const Request& request, orError_t& error) {
  const std::lock_guard growing(device_alloc_mutex_);
  const OpenRegGuard scope(device_);
  const auto chosen = [&](auto choose) {
    const std::lock_guard lock(lock_);
    return recording_.empty() ? choose() : std::vector<Block*>();  // (1)
  };
  const size_t size = segment_size(request.fit.size);
  release_blocks(chosen([&] { return take_old(request); }));  // (2)
  Block* block = attempt(request, size, error);
  // LITERALINCLUDE END: GROW

  // LITERALINCLUDE START: GROW_FULL
  const auto full = [&] { return !block && error == orErrorMemoryAllocation; };
  if (full()) {
    release_blocks(chosen([&] {  // (1)
      stats_.num_alloc_retries += 1;
      return take_oversize(request);
    }));
    block = attempt(request, size, error);
  }
  if (full()) {
    wait_for_streams();
    release_blocks(chosen([&] { return take_idle(kNoPool); }));  // (2)
    block = attempt(request, size, error);
  }
  if (full() && request.fit.size < size) {
    block = attempt(request, request.fit.size, error);  // (3)
  }
  return block;
}
// LITERALINCLUDE END: GROW_FULL

Block* DeviceCachingAllocator::attempt(const Request& request, size_t size,
                                       orError_t& error) {
  error = orErrorMemoryAllocation;
  {
    const std::lock_guard lock(lock_);
    process_events();
    if (Block* block = find(request)) {  // another thread may have freed it already
      return hand_out(block, request);
    }
    const auto reserved = static_cast<size_t>(stats_.reserved_bytes[0].current);
    const auto limit =
        static_cast<size_t>(fraction_.load() * static_cast<double>(total_));
    if (fraction_ < 1.0 && size > limit - std::min(limit, reserved)) {
      return nullptr;
    }
  }
  void* ptr = nullptr;
  {
    const RelaxedCaptureGuard relaxed;
    error = orMalloc(&ptr, size);
  }
  if (error != orSuccess) {
    return nullptr;
  }
  auto release_blocks =
      c10::make_scope_exit([ptr] { orFree(ptr); });  // without the lock
  const std::lock_guard lock(lock_);
  BlockPool& pool = pool_for(request);
  auto owner = std::make_unique<Block>(Block{ptr, size, request.stream, &pool});
  segments_[ptr] = owner.get();
  Block* block = owner.release();
  release_blocks.release();
  stats_.num_device_alloc += 1;
  increase(stats_.segment, pool.small, 1);
  increase(stats_.reserved_bytes, pool.small, size);
  if (size >= request.fit.max_split_size) {
    stats_.oversize_segments.increase(1);
    block->oversize_segment = true;
  }
  if (pool.owner != kNoPool) {
    increase(stats_.reserved_bytes_by_private_pools[pool.owner], pool.small, size);
    private_.at(pool.owner).segments += 1;
  }
  trace(TraceEntry::SEGMENT_ALLOC, *block, size, request.who);
  pool.split_block(block, request.fit);
  return hand_out(block, request);
}

// LITERALINCLUDE START: FREE
std::optional<size_t> DeviceCachingAllocator::free(
    const void* ptr, const std::shared_ptr<c10::GatheredContext>& who) noexcept {
  std::unique_lock lock(lock_);
  const auto entry = live_.find(ptr);
  if (entry == live_.end()) {
    return std::nullopt;
  }
  Block* block = entry->second;
  live_.erase(entry);
  const size_t bytes = block->requested;
  const bool small = block->pool->small;
  decrease(stats_.allocation, small, 1);
  decrease(stats_.allocated_bytes, small, block->size);
  decrease(stats_.requested_bytes, small, block->requested);
  trace(TraceEntry::FREE_REQUESTED, *block, block->requested, who);
  block->allocated = false;
  if (block->stream_uses.empty()) {
    finish_free(block);  // (1)
  } else {
    block->event_count = 1;
    lock.unlock();
    mark_streams(block);  // (2)
  }
  return bytes;
}
// LITERALINCLUDE END: FREE

// LITERALINCLUDE START: MARK_STREAMS
void DeviceCachingAllocator::mark_streams(Block* block) noexcept {
  // `block` is in no pool, in no list and in no tensor: no other thread can find it.
  const std::shared_lock no_capture_begins(capture_mutex());
  {
    const std::lock_guard lock(lock_);
    if (!recording_.empty()) {
      deferred_.push_back(block);  // (1)
      return;
    }
  }
  std::vector<std::pair<c10::Stream, orEvent_t>> marks;
  for (const c10::Stream& stream : block->stream_uses) {
    marks.emplace_back(stream, mark_end_of(stream));  // (2)
  }
  const std::lock_guard lock(lock_);
  block->event_count = static_cast<int>(marks.size());
  for (const auto& [stream, event] : marks) {
    if (event == nullptr) {
      unmarked_.push_back(block);  // (3)
    } else {
      events_[{stream.device_index(), stream.id()}].emplace_back(event, block);
    }
  }
}
// LITERALINCLUDE END: MARK_STREAMS

void DeviceCachingAllocator::finish_free(Block* block) {
  decrease(stats_.active, block->pool->small, 1);
  decrease(stats_.active_bytes, block->pool->small, block->size);
  if (block->oversize) {
    stats_.oversize_allocations.decrease(1);
    block->oversize = false;
  }
  trace(TraceEntry::FREE_COMPLETED, *block, block->requested, block->context);
  block->requested = 0;
  block->context = nullptr;
  block->stream_uses.clear();
  block->pool->free_block(block);
}

void DeviceCachingAllocator::process_events() {
  if (!recording_.empty()) {
    return;  // querying an event would invalidate the capture
  }
  for (auto entry = events_.begin(); entry != events_.end();) {
    auto& queue = entry->second;  // a stream reaches its events in this order
    while (!queue.empty() && orEventQuery(queue.front().first) != orErrorNotReady) {
      const auto [event, block] = queue.front();  // done, or dropped by a fault
      queue.pop_front();
      orEventDestroy(event);
      if (--block->event_count == 0) {
        finish_free(block);
      }
    }
    entry = queue.empty() ? events_.erase(entry) : std::next(entry);
  }
}

void DeviceCachingAllocator::wait_for_streams() {
  std::vector<Block*> unmarked;
  {
    const std::lock_guard lock(lock_);
    if (!recording_.empty()) {
      return;
    }
    stats_.num_sync_all_streams += 1;
    unmarked.swap(unmarked_);
  }
  orDeviceSynchronize();  // a fault is reported to those who wait for results
  const std::lock_guard lock(lock_);
  for (Block* block : unmarked) {
    if (--block->event_count == 0) {
      finish_free(block);
    }
  }
  process_events();
}

void DeviceCachingAllocator::release_blocks(const std::vector<Block*>& segments) {
  for (Block* block : segments) {
    const orError_t error = orFree(block->ptr);  // waits for the device
    const std::lock_guard lock(lock_);
    if (error != orSuccess) {
      block->pool->insert(block);
      continue;
    }
    const BlockPool& pool = *block->pool;
    stats_.num_device_free += 1;
    decrease(stats_.segment, pool.small, 1);
    decrease(stats_.reserved_bytes, pool.small, block->size);
    if (block->oversize_segment) {
      stats_.oversize_segments.decrease(1);
    }
    trace(TraceEntry::SEGMENT_FREE, *block, block->size, nullptr);
    segments_.erase(block->ptr);
    if (const c10::MempoolId_t owner = pool.owner; owner != kNoPool) {
      decrease(stats_.reserved_bytes_by_private_pools[owner], pool.small, block->size);
      Pools& pools = private_.at(owner);
      if (--pools.segments == 0 && pools.users == 0) {
        private_.erase(owner);
      }
    }
    delete block;
  }
}

std::vector<Block*> DeviceCachingAllocator::take_idle(c10::MempoolId_t id) {
  std::vector<Block*> blocks;
  const auto take = [&](BlockPool& pool) {
    for (Block* block : pool.idle()) {
      pool.remove(block);
      blocks.push_back(block);
    }
  };
  if (id == kNoPool) {
    take(common_.small);
    take(common_.large);
  }
  for (auto& [owner, pools] : private_) {
    if (pools.users == 0 && (id == kNoPool || id == owner)) {
      take(pools.small);
      take(pools.large);
    }
  }
  return blocks;
}

std::vector<Block*> DeviceCachingAllocator::take_oversize(const Request& request) {
  std::vector<Block*> blocks;
  size_t wanted = segment_size(request.fit.size);
  const std::vector<Block*> idle = common_.large.idle();
  for (auto block = idle.rbegin(); block != idle.rend() && wanted > 0; ++block) {
    if ((*block)->size < request.fit.max_split_size) {
      break;
    }
    wanted -= std::min(wanted, (*block)->size);
    common_.large.remove(*block);
    blocks.push_back(*block);
  }
  return blocks;
}

std::vector<Block*> DeviceCachingAllocator::take_old(const Request& request) {
  std::vector<Block*> blocks;
  const double threshold =
      c10::CachingAllocator::AcceleratorAllocatorConfig::garbage_collection_threshold();
  const double limit = threshold * fraction_ * static_cast<double>(total_);
  double excess = static_cast<double>(stats_.reserved_bytes[0].current) +
                  static_cast<double>(segment_size(request.fit.size)) - limit;
  if (threshold <= 0 || excess <= 0) {
    return blocks;
  }
  blocks = common_.large.idle();
  std::sort(blocks.begin(), blocks.end(), [](const Block* a, const Block* b) {
    return a->cached_at < b->cached_at;  // the longest unused first
  });
  size_t count = 0;
  for (; count < blocks.size() && excess > 0; ++count) {
    common_.large.remove(blocks[count]);
    excess -= static_cast<double>(blocks[count]->size);
  }
  blocks.resize(count);
  return blocks;
}

void DeviceCachingAllocator::empty(c10::MempoolId_t pool) {
  const std::lock_guard growing(device_alloc_mutex_);
  std::unique_lock lock(lock_);
  if (segments_.empty() || !recording_.empty()) {
    return;
  }
  lock.unlock();
  const OpenRegGuard scope(device_);
  wait_for_streams();
  lock.lock();
  const std::vector<Block*> idle = take_idle(pool);
  lock.unlock();
  release_blocks(idle);
}

// LITERALINCLUDE START: RECORD_STREAM
void DeviceCachingAllocator::record_stream(const void* ptr, const c10::Stream& stream) {
  external_stream(native_handle(stream), stream.device_index());  // (1)
  const std::lock_guard lock(lock_);
  const auto entry = live_.find(ptr);
  if (entry == live_.end()) {  // (2)
    return;                    // zero bytes, or foreign memory: nothing to reuse
  }
  Block* block = entry->second;
  auto& stream_uses = block->stream_uses;
  if (stream != block->stream &&  // (3)
      std::find(stream_uses.begin(), stream_uses.end(), stream) == stream_uses.end()) {
    stream_uses.push_back(stream);
  }
}
// LITERALINCLUDE END: RECORD_STREAM

void DeviceCachingAllocator::trace(TraceEntry::Action action, const Block& block,
                                   size_t size,
                                   const std::shared_ptr<c10::GatheredContext>& who) {
  history_.add(action, device_, address_of(block.ptr), size,
               native_handle(block.stream), block.pool->owner, who);
}

}  // namespace openreg
