// Preloaded: memory calls follow the rules of a kernel with pages of 64 KiB. See
// docs/ship/arm.md.
//
// A page size cannot be chosen on x86-64. These functions stand in front of those of
// the C library: an address or a file offset inside a page of 64 KiB is an error, and a
// length is rounded up to whole pages, as the kernel does with its own page size. The
// mappings that the C library makes for itself do not pass here.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kPage = 64 << 10;

size_t wholePages(size_t size) { return (size + kPage - 1) / kPage * kPage; }

bool insidePage(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kPage != 0;
}

template <class Result = int>
Result refuse(Result result = -1) {
  errno = EINVAL;
  return result;
}

void* map(void* at, size_t size, int access, int flags, int file, off_t offset) {
  const long start = syscall(SYS_mmap, at, size, access, flags, file, offset);
  return reinterpret_cast<void*>(start);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* mmap(void* at, size_t size, int access, int flags, int file,
                  off_t offset) noexcept {
  const bool fixed = (flags & MAP_FIXED) != 0;
  if (offset % static_cast<off_t>(kPage) != 0 || (fixed && insidePage(at))) {
    return refuse(MAP_FAILED);
  }
  if (fixed) return map(at, wholePages(size), access, flags, file, offset);
  // The system has smaller pages: reserve one large page more than is asked for,
  // and map at the first address that such a kernel could return.
  const size_t whole = wholePages(size);
  if (whole < size || whole + kPage < whole) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  const int reserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* reserved = map(nullptr, whole + kPage, PROT_NONE, reserve, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  auto* start = static_cast<std::byte*>(reserved);
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(start) % kPage) % kPage;
  if (before != 0) syscall(SYS_munmap, start, before);
  start += before;
  syscall(SYS_munmap, start + whole, kPage - before);
  return map(start, whole, access, flags | MAP_FIXED, file, offset);
}

EXPORT int munmap(void* at, size_t size) noexcept {
  if (insidePage(at)) return refuse();
  return static_cast<int>(syscall(SYS_munmap, at, wholePages(size)));
}

EXPORT int mprotect(void* at, size_t size, int access) noexcept {
  if (insidePage(at)) return refuse();
  return static_cast<int>(syscall(SYS_mprotect, at, wholePages(size), access));
}

EXPORT int madvise(void* at, size_t size, int advice) noexcept {
  if (insidePage(at)) return refuse();
  return static_cast<int>(syscall(SYS_madvise, at, wholePages(size), advice));
}

EXPORT long sysconf(int name) noexcept {
  if (name == _SC_PAGESIZE) return kPage;
  static const auto next = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return next(name);
}
