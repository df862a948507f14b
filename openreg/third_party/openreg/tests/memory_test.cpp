// Memory: allocation, exhaustion, attributes, protection. See
// docs/start/architecture.md.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

using MemoryTest = DriverTest;

size_t capacity() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(orMemGetInfo(&free, &total));
  return total;
}

TEST_F(MemoryTest, IsAlignedAndDisjoint) {
  std::vector<void*> blocks;
  for (size_t size : {1, 511, 512, 513, 4096, 100000}) {
    void* ptr = nullptr;
    ASSERT_OK(orMalloc(&ptr, size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 512, 0u);
    ASSERT_OK(orMemset(ptr, static_cast<int>(blocks.size()), size));
    blocks.push_back(ptr);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    char byte = -1;
    EXPECT_OK(orMemcpy(&byte, blocks[i], 1, orMemcpyDeviceToHost));
    EXPECT_EQ(byte, static_cast<char>(i));
    EXPECT_OK(orFree(blocks[i]));
  }
}

TEST_F(MemoryTest, CannotBeTouchedByTheHost) {
  DeviceMemory memory(16);
  auto* address = reinterpret_cast<volatile char*>(memory.get());
  EXPECT_DEATH(*address = 1, "");
  EXPECT_DEATH({ [[maybe_unused]] char byte = *address; }, "");
  // The system cannot reach it on the host's behalf either.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], memory.get(), 16), -1);
  EXPECT_EQ(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(MemoryTest, DevicesHaveSeparateMemory) {
  size_t other = freeBytes(1);
  DeviceMemory here(1 << 20);
  EXPECT_EQ(freeBytes(1), other);
  orPointerAttributes attributes;
  ASSERT_OK(orSetDevice(1));
  DeviceMemory there(1 << 20);
  EXPECT_OK(orPointerGetAttributes(&attributes, here.get()));
  EXPECT_EQ(attributes.device, 0);
  EXPECT_OK(orPointerGetAttributes(&attributes, there.get()));
  EXPECT_EQ(attributes.device, 1);
}

TEST_F(MemoryTest, InfoCountsWholeUnits) {
  size_t before = freeBytes(0);
  EXPECT_EQ(before, capacity());
  DeviceMemory memory(513);
  EXPECT_EQ(freeBytes(0), before - 1024);
}

TEST_F(MemoryTest, WholeDeviceCanBeAllocatedAndNoMore) {
  {
    DeviceMemory all(capacity());
    EXPECT_EQ(freeBytes(0), 0u);
    void* more = this;
    EXPECT_FAILS(orMalloc(&more, 1), orErrorMemoryAllocation, "OPENREG_DEVICE_MEMORY");
    EXPECT_EQ(more, this);
  }
  void* ptr = nullptr;
  EXPECT_FAILS(orMalloc(&ptr, capacity() + 1), orErrorMemoryAllocation,
               "largest piece");
  EXPECT_FAILS(orMalloc(&ptr, SIZE_MAX), orErrorMemoryAllocation, "device 0");
  EXPECT_FAILS(orMalloc(&ptr, SIZE_MAX - 511), orErrorMemoryAllocation, "device 0");
}

TEST_F(MemoryTest, NeighborsMergeInEveryOrderOfFrees) {
  const size_t quarter = capacity() / 4;
  std::vector<int> order = {0, 1, 2, 3};
  do {
    std::vector<void*> blocks(4);
    for (auto& block : blocks) ASSERT_OK(orMalloc(&block, quarter));
    for (int i : order) ASSERT_OK(orFree(blocks[i]));
    DeviceMemory all(capacity());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(MemoryTest, FragmentedMemoryHasNoLargePiece) {
  const size_t quarter = capacity() / 4;
  std::vector<void*> blocks(4);
  for (auto& block : blocks) ASSERT_OK(orMalloc(&block, quarter));
  ASSERT_OK(orFree(blocks[0]));
  ASSERT_OK(orFree(blocks[2]));
  EXPECT_EQ(freeBytes(0), 2 * quarter);
  void* ptr = nullptr;
  EXPECT_FAILS(orMalloc(&ptr, quarter + 1), orErrorMemoryAllocation,
               "the largest piece has " + std::to_string(quarter));
  ASSERT_OK(orFree(blocks[1]));
  ASSERT_OK(orMalloc(&ptr, 3 * quarter));
  ASSERT_OK(orFree(ptr));
  ASSERT_OK(orFree(blocks[3]));
}

TEST_F(MemoryTest, RandomAllocationsNeverOverlap) {
  std::mt19937 random(42);
  struct Block {
    char* ptr;
    size_t size;
    char mark;
  };
  std::vector<Block> blocks;
  auto check = [](const Block& block) {
    std::vector<char> bytes(block.size);
    ASSERT_OK(orMemcpy(bytes.data(), block.ptr, block.size, orMemcpyDeviceToHost));
    for (char byte : bytes) ASSERT_EQ(byte, block.mark);
  };
  for (int i = 0; i < 3000; ++i) {
    if (blocks.size() < 50 || (blocks.size() < 150 && random() % 2)) {
      void* ptr = nullptr;
      size_t size = 1 + random() % 20000;
      ASSERT_OK(orMalloc(&ptr, size));
      blocks.push_back({static_cast<char*>(ptr), size, static_cast<char>(i)});
      ASSERT_OK(orMemset(ptr, i, size));
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      check(blocks.back());
      ASSERT_OK(orFree(blocks.back().ptr));
      blocks.pop_back();
    }
  }
  for (auto& block : blocks) {
    check(block);
    ASSERT_OK(orFree(block.ptr));
  }
  DeviceMemory all(capacity());
}

// Memory of the device that the process holds, in bytes.
size_t residentBytes() { return statusBytes("RssShmem:"); }

TEST_F(MemoryTest, FreedPagesAreKeptUpToASixteenth) {
  auto touch = [](size_t size) {
    DeviceMemory memory(size);
    EXPECT_OK(orMemset(memory.get(), 1, size));
    return residentBytes();
  };
  {
    DeviceMemory all(capacity());
  }  // its release returns what earlier tests left
  size_t before = residentBytes();
  size_t few = capacity() / 32;
  EXPECT_GE(touch(few), before + few);
  EXPECT_GE(residentBytes(), before + few);
  size_t many = capacity() / 8;
  EXPECT_GE(touch(many), before + many);
  EXPECT_LE(residentBytes(), before + few);
  touch(many);  // the holes can be used again
}

TEST_F(MemoryTest, OnlyTheStartOfALiveAllocationCanBeFreed) {
  void* ptr = nullptr;
  ASSERT_OK(orMalloc(&ptr, 4096));
  EXPECT_FAILS(orFree(static_cast<char*>(ptr) + 512), orErrorInvalidDevicePointer,
               "512 bytes inside");
  EXPECT_FAILS(orFree(static_cast<char*>(ptr) + 4096), orErrorInvalidDevicePointer,
               "not allocated");
  EXPECT_OK(orFree(ptr));
  EXPECT_FAILS(orFree(ptr), orErrorInvalidDevicePointer, "freed already");
  int local = 0;
  EXPECT_FAILS(orFree(&local), orErrorInvalidDevicePointer, "not device memory");
  PinnedMemory pinned(16);
  EXPECT_FAILS(orFree(pinned.get()), orErrorInvalidDevicePointer, "orFreeHost()");
  EXPECT_OK(orFree(nullptr));
}

TEST_F(MemoryTest, FreeWaitsForTheOwningDevice) {
  void* ptr = nullptr;
  ASSERT_OK(orMalloc(&ptr, 16));
  Stream stream;
  Gate gate;
  std::atomic<bool> wrote = false;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(launch(stream, [&] {
    *static_cast<char*>(orKernelAddress(ptr)) = 1;
    wrote = true;
  }));
  ASSERT_OK(orSetDevice(1));  // another device is current
  std::thread opener([&] {
    gate.awaitArrival();
    gate.open();
  });
  EXPECT_OK(orFree(ptr));
  EXPECT_TRUE(wrote);
  opener.join();
}

TEST_F(MemoryTest, DoubleFreeIsNoticedAlsoBetweenThreads) {
  for (int round = 0; round < 50; ++round) {
    void* ptr = nullptr;
    ASSERT_OK(orMalloc(&ptr, 16));
    std::atomic<int> freed = 0;
    std::atomic<int> refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        orError_t error = orFree(ptr);
        freed += error == orSuccess;
        refused += error == orErrorInvalidDevicePointer;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(refused, 3);
  }
}

TEST_F(MemoryTest, PinnedMemoryIsOrdinaryForTheHost) {
  void* ptr = nullptr;
  ASSERT_OK(orMallocHost(&ptr, 5000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % sysconf(_SC_PAGESIZE), 0u);
  std::memset(ptr, 1, 5000);
  EXPECT_FAILS(orFreeHost(static_cast<char*>(ptr) + 8), orErrorInvalidValue,
               "not the start");
  EXPECT_OK(orFreeHost(ptr));
  EXPECT_FAILS(orFreeHost(ptr), orErrorInvalidValue, "freed already");
  DeviceMemory memory(16);
  EXPECT_FAILS(orFreeHost(memory.get()), orErrorInvalidValue, "orMallocHost()");
  EXPECT_OK(orFreeHost(nullptr));
  EXPECT_FAILS(orMallocHost(&ptr, SIZE_MAX), orErrorMemoryAllocation,
               "cannot allocate");
  EXPECT_FAILS(orMallocHost(&ptr, SIZE_MAX / 2), orErrorMemoryAllocation,
               "cannot allocate");
}

TEST_F(MemoryTest, FreeHostWaitsForEveryDevice) {
  void* ptr = nullptr;
  ASSERT_OK(orMallocHost(&ptr, 16));
  DeviceMemory memory(16);
  Gate gate;
  ASSERT_OK(launchGate(nullptr, gate));
  ASSERT_OK(orMemcpyAsync(memory.get(), ptr, 16, orMemcpyHostToDevice, nullptr));
  ASSERT_OK(orSetDevice(1));
  std::thread opener([&] {
    gate.awaitArrival();
    gate.open();
  });
  EXPECT_OK(orFreeHost(ptr));  // a copy after this point would crash
  opener.join();
}

TEST_F(MemoryTest, AttributesOfAnyAddress) {
  DeviceMemory memory(1000);
  PinnedMemory pinned(1000);
  orPointerAttributes attributes;
  for (size_t offset : {0, 1, 999}) {
    EXPECT_OK(orPointerGetAttributes(&attributes, memory.get() + offset));
    EXPECT_EQ(attributes.type, orMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 0);
    EXPECT_EQ(attributes.base, memory.get());
    EXPECT_EQ(attributes.size, 1000u);
    EXPECT_OK(orPointerGetAttributes(&attributes, pinned.get() + offset));
    EXPECT_EQ(attributes.type, orMemoryTypeHost);
    EXPECT_EQ(attributes.base, pinned.get());
    EXPECT_EQ(attributes.size, 1000u);
  }
  int local = 0;
  const void* others[] = {nullptr,
                          &local,
                          memory.get() + 1000,  // bytes that were not asked for
                          memory.get() + 4096,
                          pinned.get() + 1000,
                          pinned.get() - 1,
                          reinterpret_cast<void*>(~uintptr_t{0})};
  for (const void* other : others) {
    EXPECT_OK(orPointerGetAttributes(&attributes, other));
    EXPECT_EQ(attributes.type, orMemoryTypeUnregistered) << other;
    EXPECT_EQ(attributes.device, -1);
    EXPECT_EQ(attributes.base, nullptr);
    EXPECT_EQ(attributes.size, 0u);
  }
}

}  // namespace
}  // namespace openreg_test
