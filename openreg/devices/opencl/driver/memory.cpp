// Device memory and pinned memory; see docs/opencl/driver.md.
#include "memory.h"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "config.h"
#include "device.h"
#include "error.h"
#include "process.h"
#include "stream.h"

namespace oclrt {
namespace {

constexpr size_t kAlignment = 512;
constexpr size_t kPage = 4096;

// Never destroyed: tensors are freed while the process exits.
struct Registry {
  std::mutex mutex;
  // OpenCL: an address has no attributes. Instead, a map by the start.
  std::map<uintptr_t, Allocation> live;
  // OpenCL: no device says how much of its memory is free. Instead, a sum. What other
  // processes use is not in it.
  std::array<size_t, kMaxDevices> used{};
};
Registry& registry = *new Registry;

void* aligned(void* raw, uintptr_t* base) {
  *base = (reinterpret_cast<uintptr_t>(raw) + kAlignment - 1) & ~(kAlignment - 1);
  return reinterpret_cast<void*>(*base);
}

orError_t check_request(void** ptr, size_t size) {
  if (ptr == nullptr) return fail(orErrorInvalidValue, "ptr is null");
  if (size == 0) return fail(orErrorInvalidValue, "size is 0");
  return fault_of(thread.device);
}

// LITERALINCLUDE START: MALLOC
orError_t allocate_on_device(void** ptr, size_t size) {
  if (orError_t error = check_request(ptr, size)) return error;
  const int index = thread.device;
  const Device& device = device_at(index);
  {
    // OpenCL: hands out more memory than there is, and fails when it is touched.
    // Instead, the driver counts bytes, so that "no memory" is an error of this call.
    const std::lock_guard lock(registry.mutex);
    const size_t free = device.memory - registry.used[static_cast<size_t>(index)];
    if (size > free) {
      return fail(orErrorMemoryAllocation,
                  "device %d cannot provide %zu bytes: %zu of %zu are free (%s)", index,
                  size, free, device.memory, OCLRT_VARIABLE("DEVICE_MEMORY"));
    }
    registry.used[static_cast<size_t>(index)] += size;
  }
  // OpenCL: aligns to the largest of its types, 128 bytes. Instead, 512 bytes more.
  void* raw = nullptr;
  if (size <= device.largest) {
    raw = clSVMAlloc(platform().context, platform().svm_flags, size + kAlignment, 0);
  }
  const std::lock_guard lock(registry.mutex);
  if (raw == nullptr) {
    registry.used[static_cast<size_t>(index)] -= size;
    return fail(orErrorMemoryAllocation,
                "device %d cannot provide %zu bytes in one piece: its largest "
                "allocation is %zu bytes (CL_DEVICE_MAX_MEM_ALLOC_SIZE)",
                index, size, device.largest);
  }
  Allocation made = {size, orMemoryTypeDevice, index, raw, 0};
  *ptr = aligned(raw, &made.base);
  registry.live[made.base] = made;
  return orSuccess;
}
// LITERALINCLUDE END: MALLOC

// OpenCL: has no page-locked memory without mapping it for each use. Instead, memory of
// the host, locked as far as the limits of the process permit.
orError_t allocate_on_host(void** ptr, size_t size) {
  if (orError_t error = check_request(ptr, size)) return error;
  const size_t bytes = (size + kPage - 1) & ~(kPage - 1);
  void* raw = bytes < size ? nullptr : std::aligned_alloc(kPage, bytes);
  if (raw == nullptr) {
    return fail(orErrorMemoryAllocation, "the host cannot provide %zu bytes", size);
  }
  static_cast<void>(mlock(raw, bytes));
  const auto base = reinterpret_cast<uintptr_t>(raw);
  const std::lock_guard lock(registry.mutex);
  registry.live[base] = {size, orMemoryTypeHost, thread.device, raw, base};
  *ptr = raw;
  return orSuccess;
}

// Takes the allocation that starts at `ptr` out of the map.
bool take(void* ptr, orMemoryType type, Allocation* taken) {
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.live.find(reinterpret_cast<uintptr_t>(ptr));
  if (found == registry.live.end() || found->second.type != type) return false;
  *taken = found->second;
  registry.live.erase(found);
  return true;
}

}  // namespace

bool find_allocation(const void* address, Allocation* found) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(registry.mutex);
  auto entry = registry.live.upper_bound(at);
  if (entry == registry.live.begin()) return false;
  --entry;
  if (at - entry->first >= entry->second.size) return false;
  *found = entry->second;
  return true;
}

}  // namespace oclrt

using namespace oclrt;

orError_t orMalloc(void** ptr, size_t size) {
  return call(__func__, kStart, [&] { return allocate_on_device(ptr, size); });
}

// OpenCL: clSVMFree waits for nothing, and the memory of a kernel that runs must not go.
// Instead, the driver waits for every stream of the device first.
orError_t orFree(void* ptr) {
  return call(__func__, kStart, [&] {
    if (ptr == nullptr) return orSuccess;
    Allocation freed;
    if (!take(ptr, orMemoryTypeDevice, &freed)) {
      return fail(orErrorInvalidDevicePointer,
                  "%p is not the start of a live device allocation", ptr);
    }
    wait_for_device(freed.device);
    clSVMFree(platform().context, freed.raw);
    const std::lock_guard lock(registry.mutex);
    registry.used[static_cast<size_t>(freed.device)] -= freed.size;
    return orSuccess;
  });
}

orError_t orMallocHost(void** ptr, size_t size) {
  return call(__func__, kStart, [&] { return allocate_on_host(ptr, size); });
}

orError_t orFreeHost(void* ptr) {
  return call(__func__, kStart, [&] {
    if (ptr == nullptr) return orSuccess;
    Allocation freed;
    if (!take(ptr, orMemoryTypeHost, &freed)) {
      return fail(orErrorInvalidValue,
                  "%p is not the start of a live pinned allocation", ptr);
    }
    for (int i = 0; i < config().device_count; ++i) wait_for_device(i);
    static_cast<void>(munlock(freed.raw, freed.size));
    std::free(freed.raw);
    return orSuccess;
  });
}

orError_t orMemGetInfo(size_t* free, size_t* total) {
  return call(__func__, kStart, [&] {
    if (free == nullptr || total == nullptr) {
      return fail(orErrorInvalidValue, "free or total is null");
    }
    if (orError_t error = fault_of(thread.device)) return error;
    const std::lock_guard lock(registry.mutex);
    *total = device_at(thread.device).memory;
    *free = *total - registry.used[static_cast<size_t>(thread.device)];
    return orSuccess;
  });
}

orError_t orPointerGetAttributes(orPointerAttributes* attributes, const void* ptr) {
  return call(__func__, kInTask, [&] {
    if (attributes == nullptr) return fail(orErrorInvalidValue, "attributes is null");
    Allocation found;
    if (find_allocation(ptr, &found)) {
      *attributes = {found.type, found.device, reinterpret_cast<void*>(found.base),
                     found.size};
    } else {
      *attributes = {orMemoryTypeUnregistered, -1, nullptr, 0};
    }
    return orSuccess;
  });
}
