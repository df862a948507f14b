// Memory shared between processes. See docs/frontend/ipc.md.
//
// The memory of a process's devices is one file (memory.cpp). A handle names the
// process, the number of that file there, and a range. The importing process maps the
// range behind its own device memory, so that the same constant leads from the address
// to the device side. The mapping keeps the file: nothing happens to it when the
// exporting process ends.
#include "ipc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "call.h"
#include "capture.h"
#include "device.h"
#include "heap.h"
#include "memory.h"
#include "openreg_ipc.h"

namespace openreg::driver {
namespace {

constexpr char kMagic[8] = "orIpc 1";

// What the bytes of a handle mean.
struct Export {
  char magic[8];
  pid_t process;
  int file;        // its number in that process
  uint64_t inode;  // of the file: a later process may have the same number
  uint64_t offset;
  uint64_t size;
  int device;
};
static_assert(sizeof(Export) <= sizeof(orIpcMemHandle_t));

struct Import {
  uint64_t inode;
  uint64_t offset;  // in the file
  uint64_t size;
  int device;
  int users;

  // A mapping has whole pages of the file.
  size_t skipped() const { return offset - roundDownToPage(offset); }
  size_t mapped() const { return roundUpToPage(skipped() + size); }
};

// Leaked on purpose, as the map in memory.cpp.
auto& imports = *new std::map<uintptr_t, Import>;  // by address
std::shared_mutex importsMutex;

// The free addresses. Only used with the mutex locked.
Heap& room() {
  static auto* heap = new Heap(reservation.size - reservation.own);
  return *heap;
}

// Only the device side is mapped; the addresses that the host sees stay without access.
std::byte* mapAt(const std::byte* address, int file, const Import& import) {
  void* where = deviceSide(address);
  const auto start = static_cast<off_t>(import.offset - import.skipped());
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  if (mmap(where, import.mapped(), PROT_READ | PROT_WRITE, flags, file, start) ==
      MAP_FAILED) {
    return nullptr;
  }
  madvise(where, import.mapped(), MADV_DONTFORK);
  madvise(where, import.mapped(), MADV_DONTDUMP);
  return static_cast<std::byte*>(where);
}

// Keeps the addresses reserved.
void unmapAt(const std::byte* address, size_t size) {
  mmap(deviceSide(address), size, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

struct File {
  int number = -1;
  File() = default;
  ~File() {
    if (number >= 0) close(number);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

// Opens the file of the exporting process; checks that it is the right file, and that
// no process can shrink it: an access behind the end of a file would kill this process.
orError_t openFile(const Export& exported, File* file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(exported.process),
                exported.file);
  file->number = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file->number < 0) {
    return fail(
        orErrorInvalidResourceHandle,
        "process %d, which exported the memory, has ended or cannot be reached (%s: "
        "%s). It must keep running, under the same user, until the handle is open",
        static_cast<int>(exported.process), path, std::strerror(errno));
  }
  struct stat status = {};
  const int seals = fcntl(file->number, F_GET_SEALS);
  if (fstat(file->number, &status) == 0 && status.st_ino == exported.inode &&
      seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
      exported.size <= static_cast<uint64_t>(status.st_size) &&
      exported.offset <= static_cast<uint64_t>(status.st_size) - exported.size) {
    return orSuccess;
  }
  return fail(orErrorInvalidResourceHandle,
              "process %d did not export the memory: the process that did has ended. "
              "Keep it running until the handle is open",
              static_cast<int>(exported.process));
}

orError_t openImport(void** ptr, const Export& exported) {
  std::unique_lock lock(importsMutex);
  Import import{exported.inode, exported.offset, exported.size, exported.device, 1};
  for (auto& [address, open] : imports) {
    if (open.inode != import.inode || open.offset != import.offset ||
        open.size != import.size) {
      continue;
    }
    ++open.users;
    *ptr = reinterpret_cast<void*>(address);
    return orSuccess;
  }
  File file;  // closed below: the mapping keeps what it needs
  if (orError_t error = openFile(exported, &file)) return error;
  auto offset = room().allocate(import.mapped());
  std::byte* start = offset ? reservation.host + reservation.own + *offset : nullptr;
  const bool mapped = offset && mapAt(start, file.number, import) != nullptr;
  const char* reason = offset ? std::strerror(errno) : "no addresses are left";
  if (!mapped) {
    if (offset) {
      unmapAt(start, import.mapped());
      room().release(*offset);
    }
    return fail(orErrorMemoryAllocation,
                "%zu bytes of process %d cannot be mapped: %s. Close open handles, or "
                "raise OPENREG_DEVICE_MEMORY",
                static_cast<size_t>(import.size), static_cast<int>(exported.process),
                reason);
  }
  std::byte* address = start + import.skipped();
  imports.emplace(reinterpret_cast<uintptr_t>(address), import);
  *ptr = address;
  return orSuccess;
}

orError_t failNotOpen(const void* ptr) {
  return fail(
      orErrorInvalidDevicePointer,
      "%p is not open: it was closed already, or not returned by orIpcOpenMemHandle()",
      ptr);
}

}  // namespace

orPointerAttributes importedAttributes(const void* ptr) {
  std::shared_lock lock(importsMutex);
  auto address = reinterpret_cast<uintptr_t>(ptr);
  auto after = imports.upper_bound(address);
  if (after != imports.begin()) {
    auto& [start, import] = *std::prev(after);
    if (address - start < import.size) {
      return {orMemoryTypeDevice, import.device, reinterpret_cast<void*>(start),
              import.size};
    }
  }
  return {orMemoryTypeUnregistered, -1, nullptr, 0};
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orIpcGetMemHandle(orIpcMemHandle_t* handle, void* ptr) {
  return call(__func__, [&]() -> orError_t {
    if (handle == nullptr) return fail(orErrorInvalidValue, "handle is null");
    orPointerAttributes attributes = attributesOf(ptr);
    if (attributes.type != orMemoryTypeDevice || attributes.base != ptr) {
      return fail(orErrorInvalidDevicePointer,
                  "%p is not the start of an allocation made by orMalloc()", ptr);
    }
    if (!isOwn(ptr)) {
      return fail(
          orErrorInvalidDevicePointer,
          "%p was opened from another process, and only that process can export it",
          ptr);
    }
    struct stat status = {};
    fstat(reservation.file, &status);
    Export exported = {};
    std::memcpy(exported.magic, kMagic, sizeof kMagic);
    exported.process = getpid();
    exported.file = reservation.file;
    exported.inode = status.st_ino;
    exported.offset = static_cast<uint64_t>(static_cast<std::byte*>(attributes.base) -
                                            reservation.host);
    exported.size = attributes.size;
    exported.device = attributes.device;
    *handle = {};
    std::memcpy(handle, &exported, sizeof exported);
    return orSuccess;
  });
}

orError_t orIpcOpenMemHandle(void** ptr, orIpcMemHandle_t handle) {
  return call(__func__, [&]() -> orError_t {
    if (ptr == nullptr) return fail(orErrorInvalidValue, "ptr is null");
    Export exported;
    std::memcpy(&exported, &handle, sizeof exported);
    if (std::memcmp(exported.magic, kMagic, sizeof kMagic) != 0 || exported.size == 0) {
      return fail(orErrorInvalidResourceHandle,
                  "the handle was not made by orIpcGetMemHandle()");
    }
    if (exported.process == getpid()) {
      return fail(orErrorInvalidResourceHandle,
                  "the handle was made by this process: use the address it was made "
                  "from");
    }
    if (orError_t error = checkDevice(exported.device)) return error;
    return openImport(ptr, exported);
  });
}

orError_t orIpcCloseMemHandle(void* ptr) {
  return call(__func__, [&]() -> orError_t {
    auto address = reinterpret_cast<uintptr_t>(ptr);
    {
      std::shared_lock lock(importsMutex);
      if (!imports.contains(address)) return failNotOpen(ptr);
    }
    if (orError_t error = refuseWait()) return error;
    for (int i = 0; i < config.deviceCount; ++i) deviceAt(i).wait();
    std::unique_lock lock(importsMutex);
    auto at = imports.find(address);
    if (at == imports.end()) return failNotOpen(ptr);  // by another thread, meanwhile
    Import& import = at->second;
    if (--import.users > 0) return orSuccess;
    std::byte* start = static_cast<std::byte*>(ptr) - import.skipped();
    unmapAt(start, import.mapped());
    room().release(static_cast<size_t>(start - reservation.host) - reservation.own);
    imports.erase(at);
    return orSuccess;
  });
}
