// Device memory and pinned memory; see docs/opencl/driver.md.
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
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

// Never destroyed: tensors are freed while the process exits.
struct Registry {
  std::mutex mutex;
  // OpenCL: an address has no attributes. Instead, a map by the start.
  std::map<uintptr_t, Allocation> live;
  // OpenCL: no device reports its free memory. Instead, a sum, without the memory of
  // other processes.
  std::array<size_t, kMaxDevices> used{};
};
Registry& registry = *new Registry;

void* aligned(void* raw, uintptr_t* base) {
  *base = (reinterpret_cast<uintptr_t>(raw) + kAlignment - 1) & ~(kAlignment - 1);
  return reinterpret_cast<void*>(*base);
}

size_t units_of(size_t size) {  // whole units of the alignment
  return (size + kAlignment - 1) & ~(kAlignment - 1);
}

// OpenCL: an allocation has a limit (CL_DEVICE_MAX_MEM_ALLOC_SIZE), which a caller sees
// only as an error. The detail names it.
size_t largest_piece(const Device& device, size_t used) {
  return std::min(device.memory - used, device.largest - kAlignment);
}

orError_t fail_memory(int index, size_t size) {
  const Device& device = device_at(index);
  const size_t used = registry.used[static_cast<size_t>(index)];
  return fail(orErrorMemoryAllocation,
              "device %d cannot allocate %zu bytes: %zu of %zu bytes are free (%s), "
              "and the largest piece has %zu",
              index, size, device.memory - used, device.memory,
              OCLRT_VARIABLE("DEVICE_MEMORY"), largest_piece(device, used));
}

orError_t check_request(void** ptr, size_t size) {
  if (ptr == nullptr) return fail(orErrorInvalidValue, "ptr is null");
  if (size == 0) return fail(orErrorInvalidValue, "size is 0");
  return fault_of(thread.device);
}

orError_t allocate_on_device(void** ptr, size_t size) {
  if (orError_t error = check_request(ptr, size)) return error;
  const int index = thread.device;
  const Device& device = device_at(index);
  size_t& used = registry.used[static_cast<size_t>(index)];
  {
    // LITERALINCLUDE START: MALLOC
    // OpenCL: allocates more memory than there is, and fails on the first access.
    // Instead, the driver counts bytes, so that "no memory" is an error of this call.
    const std::lock_guard lock(registry.mutex);
    if (size > largest_piece(device, used)) return fail_memory(index, size);
    used += units_of(size);
  }
  // OpenCL: aligns to the largest of its types, 128 bytes. Instead, 512 bytes more.
  void* raw =
      clSVMAlloc(platform().context, platform().svm_flags, size + kAlignment, 0);
  const std::lock_guard lock(registry.mutex);
  if (raw == nullptr) {
    used -= units_of(size);
    return fail(orErrorMemoryAllocation,
                "clSVMAlloc cannot allocate %zu bytes for device %d, although %zu are "
                "free: set %s to a lower number",
                size, index, device.memory - used, OCLRT_VARIABLE("DEVICE_MEMORY"));
  }
  Allocation made = {size, orMemoryTypeDevice, index, raw, 0, false};
  *ptr = aligned(raw, &made.base);
  registry.live[made.base] = made;
  // LITERALINCLUDE END: MALLOC
  return orSuccess;
}

// OpenCL: has no page-locked memory without mapping it for each use. Instead, memory of
// the host, locked as far as the limits of the process permit.
orError_t allocate_on_host(void** ptr, size_t size) {
  if (orError_t error = check_request(ptr, size)) return error;
  void* raw =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) {
    return fail(orErrorMemoryAllocation, "the host cannot allocate %zu bytes", size);
  }
  static_cast<void>(mlock(raw, size));
  const auto base = reinterpret_cast<uintptr_t>(raw);
  const std::lock_guard lock(registry.mutex);
  registry.live[base] = {size, orMemoryTypeHost, thread.device, raw, base, false};
  *ptr = raw;
  return orSuccess;
}

// Finds the allocation that starts at `ptr`. It stays in the map until forget(), for
// the kernels that are waited for, but cannot be freed again.
bool start_to_free(void* ptr, orMemoryType type, Allocation* found) {
  const std::lock_guard lock(registry.mutex);
  const auto entry = registry.live.find(reinterpret_cast<uintptr_t>(ptr));
  if (entry == registry.live.end() || entry->second.type != type ||
      entry->second.is_going) {
    return false;
  }
  entry->second.is_going = true;
  *found = entry->second;
  return true;
}

void forget(const Allocation& freed) {
  const std::lock_guard lock(registry.mutex);
  registry.live.erase(freed.base);
}

// Describes what the address is instead.
orError_t fail_free(const void* ptr, orMemoryType type) {
  const bool device = type == orMemoryTypeDevice;
  const orError_t code = device ? orErrorInvalidDevicePointer : orErrorInvalidValue;
  Allocation found;
  if (!find_allocation(ptr, &found) || found.is_going) {
    return fail(code, "%p is not allocated: it was freed already, or is not %s", ptr,
                device ? "device memory" : "memory of orMallocHost()");
  }
  if (found.type != type) {
    return fail(code, "%p is memory of %s: free it with %s", ptr,
                device ? "orMallocHost()" : "orMalloc(), not of orMallocHost()",
                device ? "orFreeHost()" : "orFree()");
  }
  return fail(code, "%p is not the start of an allocation: it is %zu bytes inside", ptr,
              reinterpret_cast<uintptr_t>(ptr) - found.base);
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

// OpenCL: clSVMFree waits for nothing, but the memory of a running kernel must not be
// freed. Instead, the driver waits for every stream of the device first.
orError_t orFree(void* ptr) {
  return call(__func__, kStart, [&] {
    if (ptr == nullptr) return orSuccess;
    Allocation freed;
    if (!start_to_free(ptr, orMemoryTypeDevice, &freed)) {
      return fail_free(ptr, orMemoryTypeDevice);
    }
    wait_for_device(freed.device);
    forget(freed);  // before the address may be given out again
    clSVMFree(platform().context, freed.raw);
    const std::lock_guard lock(registry.mutex);
    registry.used[static_cast<size_t>(freed.device)] -= units_of(freed.size);
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
    if (!start_to_free(ptr, orMemoryTypeHost, &freed)) {
      return fail_free(ptr, orMemoryTypeHost);
    }
    for (int i = 0; i < config().device_count; ++i) wait_for_device(i);
    forget(freed);
    munmap(freed.raw, freed.size);  // whole pages, and unlocks them
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
