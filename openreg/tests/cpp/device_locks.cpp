// A thread that waits under the lock of one device; see docs/runtime/memory-streams.md.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"

namespace {

using openreg::OpenRegDeviceAllocator;

void allocate(c10::DeviceIndex device) {
  openreg::set_device(device);
  OpenRegDeviceAllocator::get().allocate(1000);
}

}  // namespace

int main() {
  std::atomic<bool> waits = false, done = false, in_time = false;
  auto& cache = OpenRegDeviceAllocator::get().cache_of(0);
  allocate(1);
  const c10::MempoolId_t pool = OpenRegDeviceAllocator::new_pool();
  // Called under the lock of device 0.
  cache.begin_pool(pool, [&](const c10::Stream&) {
    waits = true;
    for (int i = 0; i < 2000 && !done; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    in_time = done.load();
    return false;
  });
  std::thread thread([] { allocate(0); });
  while (!waits) {
    std::this_thread::yield();
  }
  for (int i = 0; i < 100; ++i) {
    allocate(1);
  }
  done = true;
  thread.join();
  cache.end_pool(pool);
  std::puts(in_time ? "independent" : "one lock");
  std::fflush(stdout);
  std::_Exit(0);
}
