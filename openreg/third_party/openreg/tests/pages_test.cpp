// Memory on kernels with larger pages: what a free releases, and what a size is rounded
// to. See docs/ship/arm.md.
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support.h"

namespace openreg_test {
namespace {

using PagesTest = DriverTest;

// The page size of the kernel, or of the rules that this run has: see pages64k.cpp.
size_t expectedPage() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  const bool large = preloaded != nullptr && std::strstr(preloaded, "libpages64k.so");
  return large ? 64 << 10 : getauxval(AT_PAGESZ);
}

size_t capacity() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(orMemGetInfo(&free, &total));
  return total;
}

// Without it, the run with large pages would prove nothing.
TEST_F(PagesTest, PagesHaveTheSizeAndTheRulesOfThisRun) {
  const size_t page = expectedPage();
  EXPECT_EQ(static_cast<size_t>(sysconf(_SC_PAGESIZE)), page);
  void* mapped = mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped) % page, 0u);
  char* inside = static_cast<char*>(mapped) + page / 2;
  EXPECT_EQ(madvise(inside, page, MADV_DONTNEED), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(munmap(inside, page), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(munmap(mapped, 2 * page), 0);
}

// A kernel rounds the length up to whole pages when it takes them back.
TEST_F(PagesTest, FreeingGivesBackNoPartOfALiveNeighbor) {
  const size_t large = capacity() / 8 + 4096;  // more than the device keeps
  const size_t small = 512;
  for (size_t shift : {small, size_t{4096}, expectedPage() - small, expectedPage()}) {
    DeviceMemory before(shift);
    void* freed = nullptr;
    ASSERT_OK(orMalloc(&freed, large));
    DeviceMemory after(small);
    ASSERT_EQ(freed, before.get() + shift) << "not neighbors";
    ASSERT_EQ(after.get(), before.get() + shift + large) << "not neighbors";
    ASSERT_OK(orMemset(before.get(), 5, shift));
    ASSERT_OK(orMemset(freed, 6, large));
    ASSERT_OK(orMemset(after.get(), 7, small));
    const size_t held = statusBytes("RssShmem:");
    ASSERT_OK(orFree(freed));
    EXPECT_LE(statusBytes("RssShmem:"), held - large + 3 * expectedPage());
    std::vector<char> bytes(shift);
    ASSERT_OK(orMemcpy(bytes.data(), before.get(), shift, orMemcpyDeviceToHost));
    EXPECT_EQ(bytes, std::vector<char>(shift, 5)) << "in front, shift " << shift;
    bytes.resize(small);
    ASSERT_OK(orMemcpy(bytes.data(), after.get(), small, orMemcpyDeviceToHost));
    EXPECT_EQ(bytes, std::vector<char>(small, 7)) << "behind, shift " << shift;
  }
}

// Else the memory of device 1 would begin inside a page.
TEST(PagesDeathTest, ADeviceHasWholePages) {
  const auto run = [] {
    setenv("OPENREG_DEVICE_MEMORY", "3207168", 1);  // 783 pages of 4 KiB
    size_t free = 0;
    size_t total = 0;
    void* ptr = nullptr;
    const bool good =
        orSetDevice(1) == orSuccess && orMemGetInfo(&free, &total) == orSuccess &&
        total == 3207168 / expectedPage() * expectedPage() &&
        orMalloc(&ptr, total) == orSuccess && orMemset(ptr, 1, total) == orSuccess;
    const size_t held = statusBytes("RssShmem:");
    std::fprintf(stderr, "%zu bytes, %s\n", total, orGetErrorDetail());
    _exit(good && orFree(ptr) == orSuccess && statusBytes("RssShmem:") == held - total
              ? 0
              : 1);
  };
  EXPECT_EXIT(run(), success(), "");
}

}  // namespace
}  // namespace openreg_test
