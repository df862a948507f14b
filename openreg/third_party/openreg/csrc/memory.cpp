// Memory: device and pinned allocations. See docs/start/architecture.md.
#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "call.h"
#include "capture.h"
#include "device.h"
#include "ipc.h"
#include "simulator.h"

namespace openreg::driver {

Reservation reservation;

namespace {

constexpr orPointerAttributes kUnregistered = {orMemoryTypeUnregistered, -1, nullptr,
                                               0};

struct Pinned {
  size_t size;
  int device;
};

// Leaked on purpose: it must outlive every user, also while the process exits.
auto& pinned = *new std::map<uintptr_t, Pinned>;
std::shared_mutex pinnedMutex;

orError_t failReservation(const char* what) {
  return fail(
      orErrorInitializationError,
      "cannot reserve address space for %d devices of %zu MiB: %s: %s. Lower "
      "OPENREG_DEVICE_MEMORY or OPENREG_DEVICE_COUNT, or raise the limit on virtual "
      "memory (ulimit -v)",
      config.deviceCount, config.deviceMemory >> 20, what, std::strerror(errno));
}

orError_t failAllocation(size_t size) {
  return fail(orErrorMemoryAllocation,
              "the allocation of %zu bytes failed on request of orSimFailAllocation()",
              size);
}

int deviceOf(const void* ptr) {
  return static_cast<int>((static_cast<const std::byte*>(ptr) - reservation.host) /
                          config.deviceMemory);
}

size_t offsetOf(const void* ptr) {
  return (static_cast<const std::byte*>(ptr) - reservation.host) % config.deviceMemory;
}

// LITERALINCLUDE START: GIVE_PAGES_BACK
// Punches a hole: the whole pages of the range go back to the system. The kernel rounds
// the length up, so an end inside a page would erase the neighbor's part of that page.
// A failure costs memory, not correctness, so the result of madvise does not matter.
void givePagesBack(int device, Heap::Range range) {
  const size_t start = roundUpToPage(range.offset);
  const size_t end = roundDownToPage(range.offset + range.size);
  if (start >= end) return;
  std::byte* base = reservation.host + device * config.deviceMemory;
  madvise(deviceSide(base + start), end - start, MADV_REMOVE);
}
// LITERALINCLUDE END: GIVE_PAGES_BACK

// Maps the file, and reserves as many addresses again behind it.
void* mapAndReserve(size_t own, int file, int access) {
  void* start = mmap(nullptr, 2 * own, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return start;
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  if (mmap(start, own, access, flags, file, 0) == MAP_FAILED) {
    munmap(start, 2 * own);
    return MAP_FAILED;
  }
  return start;
}

}  // namespace

orError_t reserveMemory() {
  if (reservation.host != nullptr) return orSuccess;
  const size_t own = config.deviceCount * config.deviceMemory;
  int file = memfd_create("openreg", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return failReservation("memfd_create");
  // The seal: other processes may map the file, and rely on its size.
  if (ftruncate(file, static_cast<off_t>(own)) != 0 ||
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    orError_t error = failReservation("ftruncate");
    close(file);
    return error;
  }
  // Pages are taken when they are touched, not now (MAP_NORESERVE). No MADV_HUGEPAGE:
  // as a rule systems have huge pages turned off for shared memory, and it would do
  // nothing.
  void* host = mapAndReserve(own, file, PROT_NONE);
  void* device =
      host == MAP_FAILED ? host : mapAndReserve(own, file, PROT_READ | PROT_WRITE);
  if (device == MAP_FAILED) {
    orError_t error = failReservation("mmap");
    if (host != MAP_FAILED) munmap(host, 2 * own);
    close(file);
    return error;
  }
  // A forked child must not write into its parent's device; core dumps stay small.
  madvise(device, own, MADV_DONTFORK);
  madvise(device, own, MADV_DONTDUMP);
  reservation.host = static_cast<std::byte*>(host);
  reservation.shift = static_cast<std::byte*>(device) - reservation.host;
  reservation.own = own;
  reservation.size = 2 * own;
  reservation.file = file;  // stays open: the handles of ipc.cpp name it
  return orSuccess;
}

orPointerAttributes attributesOf(const void* ptr) {
  if (inReservation(ptr)) {
    if (!isOwn(ptr)) return importedAttributes(ptr);
    int index = deviceOf(ptr);
    Device& device = deviceAt(index);
    std::lock_guard lock(device.heapMutex);
    if (auto range = device.heap.find(offsetOf(ptr))) {
      std::byte* base = reservation.host + index * config.deviceMemory + range->offset;
      return {orMemoryTypeDevice, index, base, range->size};
    }
  } else {
    std::shared_lock lock(pinnedMutex);
    auto address = reinterpret_cast<uintptr_t>(ptr);
    auto after = pinned.upper_bound(address);
    if (after != pinned.begin()) {
      auto& [start, block] = *std::prev(after);
      if (address - start < block.size) {
        return {orMemoryTypeHost, block.device, reinterpret_cast<void*>(start),
                block.size};
      }
    }
  }
  return kUnregistered;
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orMalloc(void** ptr, size_t size) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (ptr == nullptr) return fail(orErrorInvalidValue, "ptr is null");
    if (size == 0) return fail(orErrorInvalidValue, "size is 0");
    Device& device = currentDevice();
    if (orError_t error = device.reportFault()) return error;
    if (simulatorActs() && takeAllocationFailure()) return failAllocation(size);
    std::lock_guard lock(device.heapMutex);
    auto offset = device.heap.allocate(size);
    if (!offset) {
      return fail(
          orErrorMemoryAllocation,
          "device %d has no %zu bytes in one piece: %zu of %zu bytes are free, the "
          "largest piece has %zu. Free memory, or raise OPENREG_DEVICE_MEMORY",
          device.index(), size, device.heap.freeBytes(), config.deviceMemory,
          device.heap.largestFree());
    }
    *ptr = reservation.host + device.index() * config.deviceMemory + *offset;
    return orSuccess;
  });
}

orError_t orFree(void* ptr) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (ptr == nullptr) return orSuccess;
    if (!inReservation(ptr)) {
      return fail(
          orErrorInvalidDevicePointer, "%p is not device memory%s", ptr,
          attributesOf(ptr).type == orMemoryTypeHost ? ": use orFreeHost()" : "");
    }
    if (!isOwn(ptr)) {
      return fail(orErrorInvalidDevicePointer,
                  "%p is memory of another process: use orIpcCloseMemHandle()", ptr);
    }
    if (orError_t error = refuseWait()) return error;
    Device& device = deviceAt(deviceOf(ptr));
    auto check = [&]() -> orError_t {
      if (device.heap.sizeAt(offsetOf(ptr))) return orSuccess;
      if (auto range = device.heap.find(offsetOf(ptr))) {
        return fail(orErrorInvalidDevicePointer,
                    "%p is %zu bytes inside an allocation: free the address that "
                    "orMalloc() returned",
                    ptr, offsetOf(ptr) - range->offset);
      }
      return fail(orErrorInvalidDevicePointer,
                  "%p is not allocated: it was freed already, or never allocated", ptr);
    };
    {
      std::lock_guard lock(device.heapMutex);
      if (orError_t error = check()) return error;
    }
    device.wait();
    std::lock_guard lock(device.heapMutex);
    if (orError_t error = check())
      return error;  // another thread may have freed it already
    if (auto range = device.heap.release(offsetOf(ptr))) {
      givePagesBack(device.index(), *range);
    }
    return orSuccess;
  });
}

orError_t orMallocHost(void** ptr, size_t size) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (ptr == nullptr) return fail(orErrorInvalidValue, "ptr is null");
    if (size == 0) return fail(orErrorInvalidValue, "size is 0");
    if (simulatorActs() && takeAllocationFailure()) return failAllocation(size);
    // Separate pages, as for real pinned memory. They are not locked, because nothing
    // here accesses physical memory, and the usual limit on locked memory is 8 MiB.
    void* block = MAP_FAILED;
    if (size <= SIZE_MAX - pageSize()) {
      block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    }
    if (block == MAP_FAILED) {
      return fail(orErrorMemoryAllocation,
                  "the host cannot allocate %zu bytes of memory", size);
    }
    try {
      std::lock_guard lock(pinnedMutex);
      pinned[reinterpret_cast<uintptr_t>(block)] = {size, thread.device};
    } catch (const std::bad_alloc&) {
      munmap(block, size);
      throw;
    }
    *ptr = block;
    return orSuccess;
  });
}

orError_t orFreeHost(void* ptr) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (ptr == nullptr) return orSuccess;
    orPointerAttributes attributes = attributesOf(ptr);
    if (attributes.type != orMemoryTypeHost || attributes.base != ptr) {
      return fail(orErrorInvalidValue,
                  "%p is not the start of pinned memory: it was freed already, or not "
                  "allocated by orMallocHost()",
                  ptr);
    }
    if (orError_t error = refuseWait()) return error;
    for (int i = 0; i < config.deviceCount; ++i) deviceAt(i).wait();
    std::unique_lock lock(pinnedMutex);
    if (pinned.erase(reinterpret_cast<uintptr_t>(ptr)) == 0) {
      return fail(orErrorInvalidValue,
                  "%p was freed by another thread during this call", ptr);
    }
    munmap(ptr, attributes.size);
    return orSuccess;
  });
}

orError_t orMemGetInfo(size_t* free, size_t* total) {
  return call(__func__, [&]() -> orError_t {
    if (free == nullptr || total == nullptr) {
      return fail(orErrorInvalidValue, "%s is null",
                  free == nullptr ? "free" : "total");
    }
    Device& device = currentDevice();
    std::lock_guard lock(device.heapMutex);
    *free = device.heap.freeBytes();
    *total = config.deviceMemory;
    return orSuccess;
  });
}

orError_t orPointerGetAttributes(orPointerAttributes* attributes, const void* ptr) {
  return call<kInTasks>(__func__, [&]() -> orError_t {
    if (attributes == nullptr) return fail(orErrorInvalidValue, "attributes is null");
    bool running = processState() == ProcessState::kRunning;
    *attributes = running ? attributesOf(ptr) : kUnregistered;
    return orSuccess;
  });
}
