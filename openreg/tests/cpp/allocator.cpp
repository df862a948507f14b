// Threads that never saw Python share device memory; see docs/runtime/memory.md.
// With an argument: prints what a hit and a miss cost.
#include <ATen/core/Tensor.h>
#include <openreg.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"

namespace {

using openreg::OpenRegDeviceAllocator;
std::atomic<int> wrong = 0;
c10::DataPtr freed_at_exit;  // after main, when most of the process is gone

// Fills memory with a pattern on the device, frees it later, sometimes used elsewhere.
void work(unsigned seed, int steps) {
  auto& allocator = OpenRegDeviceAllocator::get();
  std::mt19937 random(seed);
  const c10::Stream mine = openreg::stream_from_pool(0, 0);
  const c10::Stream other = openreg::stream_from_pool(0, 0);
  openreg::exchange_stream(mine);
  std::vector<std::pair<c10::DataPtr, size_t>> live;
  const auto check = [&](const c10::DataPtr& ptr, size_t size) {
    std::vector<unsigned char> host(size);
    OPENREG_CHECK(orMemcpyAsync(host.data(), ptr.get(), size, orMemcpyDeviceToHost,
                                openreg::native_handle(mine)));
    for (const unsigned char byte : host) {
      wrong += byte != static_cast<unsigned char>(size % 251);
    }
  };
  for (int step = 0; step < steps; ++step) {
    const size_t size = random() % 5000 + 1;
    c10::DataPtr ptr = allocator.allocate(size);
    OPENREG_CHECK(orMemsetAsync(ptr.get(), static_cast<int>(size % 251), size,
                                openreg::native_handle(mine)));
    if (random() % 4 == 0) {
      allocator.recordStream(ptr, other);
    }
    live.emplace_back(std::move(ptr), size);
    if (live.size() > 20) {
      const size_t at = random() % live.size();
      check(live[at].first, live[at].second);
      std::swap(live[at], live.back());
      live.pop_back();
    }
    if (random() % 200 == 0) {
      allocator.emptyCache();
    }
    if (random() % 50 == 0) {
      wrong += allocator.snapshot().segments.empty();
    }
  }
  for (const auto& [ptr, size] : live) {
    check(ptr, size);
  }
}

double nanoseconds(int calls, const std::function<void()>& call) {
  double best = 1e18;
  for (int round = 0; round < 7; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      call();
    }
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / calls);
  }
  return best;
}

}  // namespace

int main(int argc, char**) {
  auto& allocator = OpenRegDeviceAllocator::get();
  if (argc > 1) {
    std::printf("hit, allocate and free: %.0f ns\n",
                nanoseconds(100000, [&] { allocator.allocate(1000); }));
    std::printf("orMalloc and orFree: %.0f ns\n", nanoseconds(20000, [] {
                  void* ptr = nullptr;
                  OPENREG_CHECK(orMalloc(&ptr, 1000));
                  OPENREG_CHECK(orFree(ptr));
                }));
    return 0;
  }
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back(work, seed, 300);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  openreg::synchronize(0);
  allocator.emptyCache();
  const auto stats = allocator.getDeviceStats(0);
  wrong += stats.allocated_bytes[0].current != 0;
  wrong += stats.reserved_bytes[0].current != 0;
  std::printf("%s\n", wrong == 0 ? "ok" : "WRONG");
  freed_at_exit = allocator.allocate(100);
  return wrong == 0 ? 0 : 1;
}
