// Numbers and pictures of one device's memory, private pools; see
// docs/runtime/memory.md.
#include <c10/core/AllocatorConfig.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/memory/DeviceCachingAllocator.h"
#include "csrc/runtime/memory/OpenRegAllocatorConfig.h"

namespace openreg {
namespace {

std::string readable(size_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) {
    value /= 1024;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value,
                units[unit]);
  return text.data();
}

}  // namespace

void DeviceCachingAllocator::out_of_memory(const Request& request) {
  const auto [free, total] = memory_info();
  size_t allocated = 0;
  size_t reserved = 0;
  {
    const std::lock_guard lock(lock_);
    stats_.num_ooms += 1;
    allocated = static_cast<size_t>(stats_.allocated_bytes[0].current);
    reserved = static_cast<size_t>(stats_.reserved_bytes[0].current);
    history_.add(TraceEntry::OOM, device_, free, request.bytes,
                 native_handle(request.stream), {0, 0}, request.who);
  }
  const c10::Device device(c10::DeviceType::PrivateUse1, device_);
  c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(request.bytes), allocated,
                                   reserved, device);
  std::string limit;
  if (const double fraction = fraction_; fraction < 1.0) {
    limit = c10::str(" This process may use ",
                     readable(static_cast<size_t>(fraction * total_)),
                     ", see set_per_process_memory_fraction().");
  }
  const size_t cached = reserved - allocated;
  const char* hint = cached < request.bytes
                         ? ""
                         : " That would be enough, but it is fragmented: try "
                           "PYTORCH_ALLOC_CONF=max_split_size_mb:128.";
  TORCH_CHECK_WITH(OutOfMemoryError, false, "openreg: out of memory on ", device,
                   ": tried to allocate ", readable(request.bytes), ". The device has ",
                   readable(total), ", of which ", readable(free), " are free.", limit,
                   " Tensors hold ", readable(allocated), "; ", readable(cached),
                   " more are reserved but unallocated.", hint, " Free tensors.");
}

DeviceStats DeviceCachingAllocator::stats() {
  const std::lock_guard lock(lock_);
  DeviceStats stats = stats_;
  stats.max_split_size = static_cast<int64_t>(fit_of(0).max_split_size);
  return stats;
}

MemoryBytes DeviceCachingAllocator::bytes() {
  const std::lock_guard lock(lock_);
  return {stats_.allocated_bytes[0], stats_.reserved_bytes[0]};
}

void DeviceCachingAllocator::forget_dead_pools() {
  auto& pools = stats_.reserved_bytes_by_private_pools;
  for (auto entry = pools.begin(); entry != pools.end();) {
    entry = private_.count(entry->first) > 0 ? std::next(entry) : pools.erase(entry);
  }
}

void DeviceCachingAllocator::reset_accumulated_stats() {
  const std::lock_guard lock(lock_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_accumulated(); });
  forget_dead_pools();
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = stats_.num_device_free = 0;
}

void DeviceCachingAllocator::reset_peak_stats() {
  const std::lock_guard lock(lock_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_peak(); });
  forget_dead_pools();
}

std::pair<size_t, size_t> DeviceCachingAllocator::memory_info() const {
  const OpenRegGuard scope(device_);
  size_t free = 0;
  size_t total = 0;
  OPENREG_CHECK(orMemGetInfo(&free, &total));
  return {free, total};
}

void DeviceCachingAllocator::set_fraction(double fraction) {
  TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1, "openreg: the memory fraction is ",
                    fraction, ": it must be from 0 to 1");
  fraction_ = fraction;
}

std::vector<c10::CachingDeviceAllocator::SegmentInfo>
DeviceCachingAllocator::segments() {
  const std::lock_guard lock(lock_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> result;
  for (const auto& [ptr, first] : segments_) {
    auto& segment = result.emplace_back();
    segment.device = device_;
    segment.address = reinterpret_cast<size_t>(ptr);
    segment.stream = native_handle(first->stream);
    segment.is_large = !first->pool->small;
    segment.owner_private_pool_id = first->pool->owner;
    for (const Block* block = first; block != nullptr; block = block->next) {
      auto& info = segment.blocks.emplace_back();
      info.size = block->size;
      info.requested_size = block->requested;
      info.gc_counter = static_cast<int32_t>(block->pool->searches - block->cached_at);
      info.allocated = block->allocated;
      info.active = block->allocated || block->event_count > 0;
      info.context_when_allocated = block->context;
      segment.total_size += block->size;
      segment.requested_size += block->requested;
      segment.allocated_size += info.allocated ? block->size : 0;
      segment.active_size += info.active ? block->size : 0;
    }
  }
  return result;
}

void DeviceCachingAllocator::record_history(const HistorySettings& settings,
                                            bool clear) {
  const std::lock_guard lock(lock_);
  history_.start(settings, clear);
}

std::vector<TraceEntry> DeviceCachingAllocator::history() {
  const std::lock_guard lock(lock_);
  return history_.entries();
}

void DeviceCachingAllocator::retain_pool(c10::MempoolId_t id) {
  refuse_in_forked_child();
  const std::lock_guard lock(lock_);
  private_.try_emplace(id, id, stats_).first->second.users += 1;
}

void DeviceCachingAllocator::begin_pool(c10::MempoolId_t id, StreamFilter filter) {
  refuse_in_forked_child();
  const std::lock_guard growing(
      device_alloc_mutex_);  // no thread waits for the device now
  retain_pool(id);
  const std::lock_guard lock(lock_);
  recording_.push_back({id, std::move(filter), std::this_thread::get_id()});
}

void DeviceCachingAllocator::end_pool(c10::MempoolId_t id) {
  if (in_forked_child()) {
    return;  // as in OpenRegDeviceAllocator::release(): contexts also end there
  }
  std::unique_lock lock(lock_);
  const auto latest = [&](auto&& matches) {
    return std::find_if(
        recording_.rbegin(), recording_.rend(),
        [&](const Recording& it) { return it.id == id && matches(it); });
  };
  auto entry = latest(
      [](const Recording& it) { return it.thread == std::this_thread::get_id(); });
  if (entry == recording_.rend()) {
    entry = latest([](const Recording&) { return true; });
  }
  const bool found = entry != recording_.rend();
  if (found) {
    recording_.erase(std::next(entry).base());
  }
  std::vector<Block*> deferred;
  if (recording_.empty()) {
    deferred.swap(deferred_);
  }
  lock.unlock();
  for (Block* block : deferred) {
    mark_streams(block);
  }
  TORCH_CHECK_VALUE(found, "openreg: no allocation to the pool (", id.first, ", ",
                    id.second, ") has begun on device ", static_cast<int>(device_));
}

void DeviceCachingAllocator::release_pool(c10::MempoolId_t id) {
  if (in_forked_child()) {
    return;  // called from destructors
  }
  std::unique_lock lock(lock_);
  const auto entry = private_.find(id);
  const bool found = entry != private_.end() && entry->second.users > 0;
  if (found && --entry->second.users == 0 && entry->second.segments == 0) {
    private_.erase(entry);
  }
  lock.unlock();
  TORCH_CHECK_VALUE(found, "openreg: device ", static_cast<int>(device_),
                    " has no memory pool (", id.first, ", ", id.second, ")");
}

bool DeviceCachingAllocator::has_pool(c10::MempoolId_t id) {
  refuse_in_forked_child();
  const std::lock_guard lock(lock_);
  const auto entry = private_.find(id);
  return entry != private_.end() && entry->second.users > 0;
}

}  // namespace openreg
