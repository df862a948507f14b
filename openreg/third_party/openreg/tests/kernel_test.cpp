// Kernels and host callbacks: arguments, addresses. See docs/start/architecture.md.
#include <cstring>

#include "support.h"

namespace openreg_test {
namespace {

using KernelTest = DriverTest;

std::atomic<int> destroyed = 0;
void countDestroy(void*) { ++destroyed; }
orError_t empty(void*) { return orSuccess; }

TEST_F(KernelTest, DestroysItsArgumentsOnce) {
  destroyed = 0;
  int argument = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(orLaunchKernel("empty", empty, &argument, countDestroy, nullptr));
  }
  ASSERT_OK(orLaunchKernel("null argument", empty, nullptr, countDestroy, nullptr));
  ASSERT_OK(orLaunchKernel("no destroy", empty, &argument, nullptr, nullptr));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(destroyed, 101);
}

TEST_F(KernelTest, LeavesTheArgumentsToTheCallerWhenTheLaunchFails) {
  destroyed = 0;
  int argument = 0;
  auto* bad = reinterpret_cast<orStream_t>(0x1234);
  EXPECT_FAILS(orLaunchKernel("empty", empty, &argument, countDestroy, bad),
               orErrorInvalidResourceHandle, "not a live stream");
  EXPECT_FAILS(orLaunchKernel("empty", nullptr, &argument, countDestroy, nullptr),
               orErrorInvalidValue, "kernel is null");
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(destroyed, 0);
}

TEST_F(KernelTest, ReachesDeviceMemoryOfEveryDevice) {
  DeviceMemory here(1024);
  ASSERT_OK(orSetDevice(1));
  DeviceMemory there(1024);
  ASSERT_OK(orSetDevice(0));
  ASSERT_OK(launch(nullptr, [&] {
    auto* a = static_cast<char*>(orKernelAddress(here.get()));
    auto* b = static_cast<char*>(orKernelAddress(there.get() + 7));
    ASSERT_NE(a, nullptr);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(orKernelAddress(here.get() + 1000), a + 1000);
    std::memset(a, 1, 1024);
    *b = 2;
  }));
  char byte = 0;
  EXPECT_OK(orMemcpy(&byte, here.get() + 1023, 1, orMemcpyDeviceToHost));
  EXPECT_EQ(byte, 1);
  EXPECT_OK(orMemcpy(&byte, there.get() + 7, 1, orMemcpyDeviceToHost));
  EXPECT_EQ(byte, 2);
}

TEST_F(KernelTest, AddressesExistOnlyInsideKernels) {
  DeviceMemory memory(16);
  PinnedMemory pinned(16);
  EXPECT_EQ(orKernelAddress(memory.get()), nullptr);
  int local = 0;
  ASSERT_OK(launch(nullptr, [&] {
    EXPECT_EQ(orKernelAddress(&local), nullptr);
    EXPECT_EQ(orKernelAddress(pinned.get()), nullptr);
    EXPECT_EQ(orKernelAddress(nullptr), nullptr);
    EXPECT_NE(orKernelAddress(memory.get()), nullptr);
  }));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(orKernelAddress(memory.get()), nullptr);  // also after having helped
  struct Check {
    void* memory;
    bool null;
  } check{memory.get(), false};
  ASSERT_OK(orLaunchHostFunc(
      nullptr,
      [](void* p) {
        auto* check = static_cast<Check*>(p);
        check->null = orKernelAddress(check->memory) == nullptr;
      },
      &check));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_TRUE(check.null);
}

TEST_F(KernelTest, MayAskAboutAddressesAndItsDevice) {
  DeviceMemory memory(16);
  ASSERT_OK(orSetDevice(1));
  ASSERT_OK(launch(nullptr, [&] {
    int device = -1;
    EXPECT_OK(orGetDevice(&device));
    EXPECT_EQ(device, 1);
    orPointerAttributes attributes;
    EXPECT_OK(orPointerGetAttributes(&attributes, memory.get()));
    EXPECT_EQ(attributes.type, orMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 0);
  }));
  EXPECT_OK(orStreamSynchronize(nullptr));
}

TEST_F(KernelTest, HostCallbackRunsInOrder) {
  Stream stream;
  Gate gate;
  std::vector<int> order;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(launch(stream, [&] { order.push_back(1); }));
  auto push = [](void* p) { static_cast<std::vector<int>*>(p)->push_back(2); };
  ASSERT_OK(orLaunchHostFunc(stream, push, &order));
  ASSERT_OK(launch(stream, [&] { order.push_back(3); }));
  gate.open();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace openreg_test
