// Counts memory in the form that torch reports; see docs/runtime/memory.md.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

namespace openreg {

using c10::CachingAllocator::StatArray;
using c10::CachingDeviceAllocator::DeviceStats;

// A StatArray has three lines, "all", "small_pool" and "large_pool": a change counts in
// the first line and in one of the others. If a report shows zeros, one of the two was
// not updated.
inline void increase(StatArray& stats, bool small, size_t amount) {
  stats[0].increase(amount);
  stats[small ? 1 : 2].increase(amount);
}

inline void decrease(StatArray& stats, bool small, size_t amount) {
  stats[0].decrease(amount);
  stats[small ? 1 : 2].decrease(amount);
}

// Calls `change` with every Stat that torch.accelerator.memory_stats() shows.
template <class Change>
void for_each_stat(DeviceStats& stats, Change change) {
  for (StatArray* array :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
        &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
        &stats.inactive_split_bytes, &stats.requested_bytes}) {
    for (auto& stat : *array) {
      change(stat);
    }
  }
  for (auto& [pool, array] : stats.reserved_bytes_by_private_pools) {
    for (auto& stat : array) {
      change(stat);
    }
  }
  change(stats.oversize_allocations);
  change(stats.oversize_segments);
}

}  // namespace openreg
