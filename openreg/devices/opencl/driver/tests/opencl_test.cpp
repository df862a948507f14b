// Kernels in OpenCL C, and what this driver adds to OpenCL's memory and streams;
// see docs/opencl/driver.md.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "oclrt_kernel.h"
#include "support.h"

namespace openreg_test {
namespace {

class OpenClTest : public DriverTest {};

constexpr const char* kSource = R"(
kernel void scale(global float* x, float factor) { x[get_global_id(0)] *= factor; }
kernel void reverse(global float* x, local float* piece) {
  const size_t at = get_local_id(0), size = get_local_size(0);
  const size_t first = get_group_id(0) * size;
  piece[at] = x[first + at];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[first + at] = piece[size - 1 - at];
}
kernel void is_null(global const float* x, global int* answer) { *answer = x == 0; }
kernel void number(global int* x) { *x = NUMBER; }
)";

orClArg pointer(void* const* address) { return {address, sizeof *address, 1}; }

template <class T>
orClArg value(const T* number) {
  return {number, sizeof *number, 0};
}

std::vector<float> floats(const DeviceMemory& memory, size_t count) {
  std::vector<float> result(count);
  EXPECT_OK(orMemcpy(result.data(), memory.get(), count * sizeof(float),
                     orMemcpyDeviceToHost));
  return result;
}

void upload(const DeviceMemory& memory, const std::vector<float>& values) {
  EXPECT_OK(orMemcpy(memory.get(), values.data(), values.size() * sizeof(float),
                     orMemcpyHostToDevice));
}

TEST_F(OpenClTest, KernelGetsAddressesInsideAllocationsAndValues) {
  DeviceMemory memory(4 * sizeof(float));
  upload(memory, {1, 2, 3, 4});
  orClKernel_t kernel = nullptr;
  ASSERT_OK(orClGetKernel(&kernel, kSource, "scale", "-DNUMBER=0"));
  void* inside = memory.get() + sizeof(float);
  float factor = 10;
  const orClArg args[] = {pointer(&inside), value(&factor)};
  const size_t global = 2;
  ASSERT_OK(orClLaunch(kernel, args, 2, 1, &global, nullptr, nullptr));
  factor = 0;  // the value was copied
  EXPECT_EQ(floats(memory, 4), (std::vector<float>{1, 20, 30, 4}));
}

TEST_F(OpenClTest, KernelGetsLocalMemoryAndWorkGroups) {
  DeviceMemory memory(8 * sizeof(float));
  upload(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  orClKernel_t kernel = nullptr;
  ASSERT_OK(orClGetKernel(&kernel, kSource, "reverse", "-DNUMBER=0"));
  void* address = memory.get();
  const orClArg args[] = {pointer(&address), {nullptr, 4 * sizeof(float), 0}};
  const size_t global = 8;
  const size_t local = 4;
  ASSERT_OK(orClLaunch(kernel, args, 2, 1, &global, &local, nullptr));
  EXPECT_EQ(floats(memory, 8), (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST_F(OpenClTest, NullIsAnAddress) {
  DeviceMemory memory(sizeof(int));
  orClKernel_t kernel = nullptr;
  ASSERT_OK(orClGetKernel(&kernel, kSource, "is_null", "-DNUMBER=0"));
  void* nothing = nullptr;
  void* answer = memory.get();
  const orClArg args[] = {pointer(&nothing), pointer(&answer)};
  const size_t global = 1;
  ASSERT_OK(orClLaunch(kernel, args, 2, 1, &global, nullptr, nullptr));
  int result = 0;
  ASSERT_OK(orMemcpy(&result, answer, sizeof result, orMemcpyDeviceToHost));
  EXPECT_EQ(result, 1);
}

TEST_F(OpenClTest, OneHandleServesEveryDevice) {
  orClKernel_t kernel = nullptr;
  orClKernel_t again = nullptr;
  ASSERT_OK(orClGetKernel(&kernel, kSource, "number", "-DNUMBER=7"));
  for (int device : {1, 0}) {
    ASSERT_OK(orSetDevice(device));
    ASSERT_OK(orClGetKernel(&again, kSource, "number", "-DNUMBER=7"));
    EXPECT_EQ(kernel, again);
    DeviceMemory memory(sizeof(int));
    void* address = memory.get();
    const orClArg args[] = {pointer(&address)};
    const size_t global = 1;
    ASSERT_OK(orClLaunch(kernel, args, 1, 1, &global, nullptr, nullptr));
    int result = 0;
    ASSERT_OK(orMemcpy(&result, address, sizeof result, orMemcpyDeviceToHost));
    EXPECT_EQ(result, 7);
  }
}

TEST_F(OpenClTest, ThreadsLaunchOneKernelAtTheSameTime) {
  orClKernel_t kernel = nullptr;
  ASSERT_OK(orClGetKernel(&kernel, kSource, "scale", "-DNUMBER=0"));
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([kernel, t] {
      Stream stream;
      DeviceMemory memory(sizeof(float));
      upload(memory, {1});
      void* address = memory.get();
      const float factor = t % 2 == 0 ? 2.0F : 0.5F;
      const orClArg args[] = {pointer(&address), value(&factor)};
      const size_t global = 1;
      for (int i = 0; i < 100; ++i) {
        EXPECT_OK(orClLaunch(kernel, args, 2, 1, &global, nullptr, stream));
      }
      EXPECT_OK(orStreamSynchronize(stream));
      float expected = 1;
      for (int i = 0; i < 100; ++i) expected *= factor;
      EXPECT_EQ(floats(memory, 1), std::vector<float>{expected});
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OpenClTest, MistakesAreErrorsWithWords) {
  orClKernel_t kernel = nullptr;
  EXPECT_FAILS(orClGetKernel(&kernel, "kernel void f() { unknown(); }", "f", nullptr),
               orErrorInvalidValue, "unknown");
  EXPECT_FAILS(orClGetKernel(&kernel, kSource, "scales", "-DNUMBER=0"),
               orErrorInvalidValue, "no kernel 'scales'");
  ASSERT_OK(orClGetKernel(&kernel, kSource, "scale", "-DNUMBER=0"));
  const double wide = 1;
  const float narrow = 1;
  void* nothing = nullptr;
  const size_t global = 1;
  const orClArg bad[] = {pointer(&nothing), value(&wide)};
  EXPECT_FAILS(orClLaunch(kernel, bad, 2, 1, &global, nullptr, nullptr),
               orErrorInvalidValue, "argument 1 of 8 bytes");
  const orClArg good[] = {pointer(&nothing), value(&narrow)};
  EXPECT_FAILS(orClLaunch(kernel, good, 2, 4, &global, nullptr, nullptr),
               orErrorInvalidValue, "dims is 4");
  const size_t none = 0;
  EXPECT_OK(orClLaunch(kernel, good, 2, 1, &none, nullptr, nullptr));
  EXPECT_OK(orDeviceSynchronize());  // no mistake is a fault
}

TEST_F(OpenClTest, AbilitiesAreThoseOfTheDevice) {
  orClDeviceAbility ability = {};
  ASSERT_OK(orClGetDeviceAbility(&ability, 1));
  EXPECT_GT(ability.localMemory, 0u);
  EXPECT_GT(ability.maxWorkGroup, 0u);
  EXPECT_FAILS(orClGetDeviceAbility(&ability, 2), orErrorInvalidDevice, "2");
}

TEST_F(OpenClTest, HeldStreamRunsAfterItsReleaseAndOthersGoOn) {
  Stream held;
  Stream other;
  DeviceMemory memory(2);
  PinnedMemory result(2);
  ASSERT_OK(orMemset(memory.get(), 1, 2));
  ASSERT_OK(orClHold(held));
  ASSERT_OK(orClHold(held));
  ASSERT_OK(orMemsetAsync(memory.get(), 2, 2, held));
  EXPECT_EQ(orStreamQuery(held), orErrorNotReady);
  ASSERT_OK(orMemcpyAsync(result.get(), memory.get(), 2, orMemcpyDeviceToHost, other));
  ASSERT_OK(orStreamSynchronize(other));
  EXPECT_EQ(result.get()[0], 1);
  ASSERT_OK(orClRelease(held));
  EXPECT_EQ(orStreamQuery(held), orErrorNotReady);
  ASSERT_OK(orClRelease(held));
  ASSERT_OK(orStreamSynchronize(held));
  EXPECT_FAILS(orClRelease(held), orErrorInvalidValue, "not held");
}

TEST_F(OpenClTest, DestroyingAStreamReleasesIt) {
  orStream_t stream = nullptr;
  ASSERT_OK(orStreamCreate(&stream));
  ASSERT_OK(orClHold(stream));
  ASSERT_OK(orStreamDestroy(stream));
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(OpenClTest, HostCallbackRunsBetweenTheCommandsAroundIt) {
  DeviceMemory memory(1);
  PinnedMemory bytes(2);
  struct Look {
    const char* byte;
    std::atomic<int> seen;
    orError_t refused;
  } look = {bytes.get(), 0, orSuccess};
  ASSERT_OK(orClHold(nullptr));
  ASSERT_OK(orMemsetAsync(memory.get(), 5, 1, nullptr));
  ASSERT_OK(orMemcpyAsync(bytes.get(), memory.get(), 1, orMemcpyDeviceToHost, nullptr));
  ASSERT_OK(orLaunchHostFunc(
      nullptr,
      [](void* arg) {
        auto* to = static_cast<Look*>(arg);
        to->seen = *to->byte;
        to->refused = orDeviceSynchronize();
      },
      &look));
  ASSERT_OK(orMemsetAsync(memory.get(), 6, 1, nullptr));
  EXPECT_EQ(look.seen, 0);
  ASSERT_OK(orClRelease(nullptr));
  ASSERT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(look.seen, 5);
  EXPECT_EQ(look.refused, orErrorNotPermitted);
}

TEST_F(OpenClTest, AllocationsAreAlignedAndCounted) {
  size_t free = 0;
  size_t total = 0;
  ASSERT_OK(orMemGetInfo(&free, &total));
  DeviceMemory first(1);
  DeviceMemory second(513);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.get()) % 512, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second.get()) % 512, 0u);
  EXPECT_EQ(freeBytes(0), free - 3 * 512);
  void* ptr = nullptr;
  EXPECT_FAILS(orMalloc(&ptr, free), orErrorMemoryAllocation, "OPENREG_DEVICE_MEMORY");
}

TEST_F(OpenClTest, ManyCommandsOnAHeldStreamAreKept) {
  DeviceMemory memory(1);
  ASSERT_OK(orClHold(nullptr));
  for (int i = 0; i < 1000; ++i) ASSERT_OK(orMemsetAsync(memory.get(), i, 1, nullptr));
  ASSERT_OK(orClRelease(nullptr));
  for (int i = 0; i < 5000; ++i) ASSERT_OK(orMemsetAsync(memory.get(), 9, 1, nullptr));
  char byte = 0;
  ASSERT_OK(orMemcpy(&byte, memory.get(), 1, orMemcpyDeviceToHost));
  EXPECT_EQ(byte, 9);
}

}  // namespace
}  // namespace openreg_test
