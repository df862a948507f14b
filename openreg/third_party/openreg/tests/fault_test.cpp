// Faults: sticky errors, what they stop and what they leave. See
// docs/start/architecture.md.
#include "support.h"

namespace openreg_test {
namespace {

class FaultTest : public DriverTest {
 protected:
  void TearDown() override {
    for (int i = 0; i < kDevices; ++i) {
      EXPECT_OK(orSetDevice(i));
      EXPECT_OK(orDeviceReset());
    }
    DriverTest::TearDown();
  }
  static orError_t launchFault(orStream_t stream,
                               orError_t error = orErrorIllegalAddress) {
    return launchBody(
        stream,
        [error] {
          orKernelFault("index 7 is out of range");
          return error;
        },
        "gather");
  }
};

TEST_F(FaultTest, TellsDeviceStreamKernelAndReason) {
  ASSERT_OK(orSetDevice(1));
  ASSERT_OK(launchFault(nullptr));
  EXPECT_EQ(orStreamSynchronize(nullptr), orErrorIllegalAddress);
  std::string detail = orGetErrorDetail();
  for (const char* part :
       {"orStreamSynchronize()", "device 1", "stream 0", "'gather'",
        "orErrorIllegalAddress", "index 7 is out of range", "orDeviceReset()"}) {
    EXPECT_NE(detail.find(part), std::string::npos) << part << " not in: " << detail;
  }
}

TEST_F(FaultTest, ReasonIsOptionalAndNotInheritedFromAnotherKernel) {
  ASSERT_OK(launchBody(nullptr, [] {
    orKernelFault("changed my mind");
    return orSuccess;
  }));
  ASSERT_OK(launchBody(nullptr, [] { return orErrorLaunchFailure; }, "silent"));
  EXPECT_FAILS(orStreamSynchronize(nullptr), orErrorLaunchFailure, "'silent'");
  EXPECT_EQ(std::string(orGetErrorDetail()).find("changed"), std::string::npos);
}

TEST_F(FaultTest, IsReportedByEveryCallThatUsesTheDevice) {
  DeviceMemory memory(64);
  PinnedMemory pinned(64);
  Event event;
  Stream other;
  ASSERT_OK(launchFault(nullptr));
  EXPECT_EQ(orDeviceSynchronize(), orErrorIllegalAddress);
  const std::pair<const char*, std::function<orError_t()>> calls[] = {
      {"orDeviceSynchronize", [&] { return orDeviceSynchronize(); }},
      {"orStreamSynchronize", [&] { return orStreamSynchronize(other); }},
      {"orMalloc",
       [&] {
         void* ptr = nullptr;
         return orMalloc(&ptr, 1);
       }},
      {"orMemcpy",
       [&] { return orMemcpy(memory.get(), pinned.get(), 1, orMemcpyDefault); }},
      {"orMemcpyAsync",
       [&] {
         return orMemcpyAsync(memory.get(), pinned.get(), 1, orMemcpyDefault, other);
       }},
      {"orMemset", [&] { return orMemset(memory.get(), 0, 1); }},
      {"orMemsetAsync", [&] { return orMemsetAsync(memory.get(), 0, 1, other); }},
      {"orLaunchKernel", [&] { return launch(other, [] {}); }},
      {"orLaunchHostFunc",
       [&] { return orLaunchHostFunc(other, [](void*) {}, nullptr); }},
      {"orEventRecord", [&] { return orEventRecord(event, other); }},
      {"orStreamWaitEvent", [&] { return orStreamWaitEvent(other, event); }},
      {"orStreamBeginCapture",
       [&] { return orStreamBeginCapture(other, orStreamCaptureModeGlobal); }},
  };
  for (auto& [name, call] : calls) {
    EXPECT_FAILS(call(), orErrorIllegalAddress, std::string(name) + "()");
  }
}

TEST_F(FaultTest, LeavesCleaningUpPossible) {
  void* memory = nullptr;
  void* pinned = nullptr;
  orEvent_t event = nullptr;
  orStream_t stream = nullptr;
  ASSERT_OK(orMalloc(&memory, 64));
  ASSERT_OK(orMallocHost(&pinned, 64));
  ASSERT_OK(orEventCreate(&event));
  ASSERT_OK(orStreamCreate(&stream));
  ASSERT_OK(orEventRecord(event, stream));
  ASSERT_OK(launchFault(stream));
  EXPECT_EQ(orStreamSynchronize(stream), orErrorIllegalAddress);
  EXPECT_OK(orEventQuery(event));
  EXPECT_OK(orStreamQuery(stream));
  EXPECT_OK(orEventDestroy(event));
  EXPECT_OK(orStreamDestroy(stream));
  EXPECT_OK(orFree(memory));
  EXPECT_OK(orFreeHost(pinned));
}

TEST_F(FaultTest, DropsTheTasksBehindItButCompletesThem) {
  Stream failing;
  Stream other;
  Gate gate;
  Event event;
  std::atomic<int> ran = 0;
  static std::atomic<int> destroyed;
  destroyed = 0;
  auto kernel = [](void* p) {
    ++*static_cast<std::atomic<int>*>(p);
    return orSuccess;
  };
  auto destroy = [](void*) { ++destroyed; };
  ASSERT_OK(launchGate(failing, gate));
  ASSERT_OK(launchFault(failing));
  ASSERT_OK(orEventRecord(event, failing));
  ASSERT_OK(orStreamWaitEvent(other, event));
  for (orStream_t stream : {orStream_t(failing), orStream_t(other)}) {
    ASSERT_OK(orLaunchKernel("dropped", kernel, &ran, destroy, stream));
    ASSERT_OK(orLaunchHostFunc(
        stream, [](void* p) { ++*static_cast<std::atomic<int>*>(p); }, &ran));
  }
  gate.open();
  EXPECT_EQ(orStreamSynchronize(other), orErrorIllegalAddress);
  EXPECT_EQ(orDeviceSynchronize(), orErrorIllegalAddress);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(destroyed, 2);
  EXPECT_OK(orEventQuery(event));
  EXPECT_EQ(orEventSynchronize(event), orErrorIllegalAddress);
}

TEST_F(FaultTest, StopsOnlyItsOwnDevice) {
  ASSERT_OK(launchFault(nullptr));
  EXPECT_EQ(orDeviceSynchronize(), orErrorIllegalAddress);
  ASSERT_OK(orSetDevice(1));
  bool ran = false;
  EXPECT_OK(launch(nullptr, [&] { ran = true; }));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_TRUE(ran);
}

TEST_F(FaultTest, FirstOneStays) {
  Gate gate;
  ASSERT_OK(launchGate(nullptr, gate));
  ASSERT_OK(launchFault(nullptr, orErrorLaunchFailure));
  ASSERT_OK(launchFault(nullptr, orErrorIllegalAddress));
  gate.open();
  EXPECT_EQ(orDeviceSynchronize(), orErrorLaunchFailure);
  EXPECT_EQ(orDeviceSynchronize(), orErrorLaunchFailure);
}

TEST_F(FaultTest, FirstOneStaysAlsoWhenTwoKernelsFailAtTheSameTime) {
  Stream first;
  Stream second;
  Gate gate;
  ASSERT_OK(launchBody(second, [pass = gate.passage()] {
    pass();
    return orErrorIllegalAddress;
  }));
  gate.awaitArrival();  // the second kernel runs before the first one fails
  ASSERT_OK(launchBody(first, [] { return orErrorLaunchFailure; }));
  EXPECT_EQ(orStreamSynchronize(first), orErrorLaunchFailure);
  gate.open();
  EXPECT_EQ(orStreamSynchronize(second), orErrorLaunchFailure);
}

TEST_F(FaultTest, ResetMakesTheDeviceUsableAgain) {
  DeviceMemory memory(64);
  Stream stream;
  ASSERT_OK(launchFault(stream));
  EXPECT_OK(orDeviceReset());
  EXPECT_OK(orMemset(memory.get(), 3, 64));
  bool ran = false;
  EXPECT_OK(launch(stream, [&] { ran = true; }));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace openreg_test
