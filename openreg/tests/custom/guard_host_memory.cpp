// Puts a page that nothing may touch on both sides of each CPU tensor's memory; see
// docs/operators/borrowed-kernels.md.
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace {

const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
std::mutex mutex;
auto& mapped = *new std::map<char*, size_t>;  // from the memory to the bytes mapped

char* base_of(char* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  return memory - address % kPage - kPage;
}

void unmap(void* memory) {
  if (memory != nullptr) {
    const std::lock_guard lock(mutex);
    const auto at = mapped.find(static_cast<char*>(memory));
    munmap(base_of(at->first), at->second);
    mapped.erase(at);
  }
}

// The memory ends at the page behind it, but for its alignment to 16 bytes.
struct Guarding final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) {
      return {nullptr, nullptr, &unmap, cpu};
    }
    const size_t pages = (bytes + kPage - 1) / kPage * kPage, all = pages + 2 * kPage;
    void* made = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
      throw std::bad_alloc();
    }
    char* base = static_cast<char*>(made);
    mprotect(base + kPage, pages, PROT_READ | PROT_WRITE);
    char* memory = base + kPage + pages - (bytes + 15) / 16 * 16;
    const std::lock_guard lock(mutex);
    mapped[memory] = all;
    return {memory, memory, &unmap, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &unmap; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

Guarding guarding;
[[maybe_unused]] const bool set = (c10::SetCPUAllocator(&guarding, 200), true);

}  // namespace
