// The simulator: holds, delays and failures. See docs/runtime/errors.md.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

using Clock = std::chrono::steady_clock;

class SimulatorTest : public DriverTest {
 protected:
  void TearDown() override {
    EXPECT_OK(orSimReset());
    for (int i = 0; i < kDevices; ++i) {
      EXPECT_OK(orSetDevice(i));
      EXPECT_OK(orDeviceReset());
    }
    DriverTest::TearDown();
  }
};

// Whether everything in the stream has run a while later. Only ever too kind: a task
// that wrongly starts may be late, but a held one never runs.
bool runsSoon(orStream_t stream) {
  for (int i = 0; i < 20 && orStreamQuery(stream) != orSuccess; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return orStreamQuery(stream) == orSuccess;
}

TEST_F(SimulatorTest, HeldStreamStandsAndOthersGoOn) {
  Stream held;
  Stream other;
  std::atomic<int> ran = 0;
  ASSERT_OK(orSimHold(held));
  ASSERT_OK(launch(held, [&] { ++ran; }));
  ASSERT_OK(launch(other, [&] { ran += 10; }));
  EXPECT_OK(orStreamSynchronize(other));
  EXPECT_FALSE(runsSoon(held));
  EXPECT_EQ(ran, 10);
  EXPECT_OK(orSimRelease(held));
  EXPECT_OK(orStreamSynchronize(held));
  EXPECT_EQ(ran, 11);
}

TEST_F(SimulatorTest, NullHoldsTheDefaultStreamOfTheCurrentDevice) {
  ASSERT_OK(orSetDevice(1));
  ASSERT_OK(orSimHold(nullptr));
  ASSERT_OK(launch(nullptr, [] {}));
  ASSERT_OK(orSetDevice(0));
  ASSERT_OK(launch(nullptr, [] {}));
  EXPECT_OK(orStreamSynchronize(nullptr));
  ASSERT_OK(orSetDevice(1));
  EXPECT_FALSE(runsSoon(nullptr));
  EXPECT_OK(orSimRelease(nullptr));
  EXPECT_OK(orStreamSynchronize(nullptr));
}

TEST_F(SimulatorTest, HoldsAddUp) {
  Stream stream;
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(launch(stream, [] {}));
  ASSERT_OK(orSimRelease(stream));
  EXPECT_FALSE(runsSoon(stream));
  ASSERT_OK(orSimRelease(stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_FAILS(orSimRelease(stream), orErrorInvalidValue, "is not held");
}

TEST_F(SimulatorTest, WhoeverWaitsForAHeldStreamWaitsForItsRelease) {
  Stream held;
  Stream behind;
  Event event;
  DeviceMemory memory(64);
  std::atomic<bool> ran = false;
  ASSERT_OK(orSimHold(held));
  ASSERT_OK(launch(held, [&] { ran = true; }));
  ASSERT_OK(orEventRecord(event, held));
  ASSERT_OK(orStreamWaitEvent(behind, event));
  std::atomic<int> returned = 0;
  const std::function<orError_t()> waits[] = {
      [&] { return orStreamSynchronize(held); },
      [&] { return orStreamSynchronize(behind); },
      [&] { return orEventSynchronize(event); }, [] { return orDeviceSynchronize(); }};
  std::vector<std::thread> threads;
  for (auto& wait : waits) {
    threads.emplace_back([&] {
      EXPECT_OK(wait());
      EXPECT_TRUE(ran);
      ++returned;
    });
  }
  EXPECT_FALSE(runsSoon(behind));
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(orEventQuery(event), orErrorNotReady);
  ASSERT_OK(orSimRelease(held));
  for (auto& thread : threads) thread.join();
}

TEST_F(SimulatorTest, HoldInTheMiddleLetsTheRunningTaskFinish) {
  Stream stream;
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(launch(stream, [&] { ran = true; }));
  gate.awaitArrival();
  ASSERT_OK(orSimHold(stream));
  gate.open();
  EXPECT_FALSE(runsSoon(stream));
  EXPECT_FALSE(ran);
  ASSERT_OK(orSimRelease(stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_TRUE(ran);
}

TEST_F(SimulatorTest, DestroyingAHeldStreamLetsItRun) {
  orStream_t stream = nullptr;
  std::atomic<bool> ran = false;
  ASSERT_OK(orStreamCreate(&stream));
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(launch(stream, [&] { ran = true; }));
  ASSERT_OK(orStreamDestroy(stream));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_TRUE(ran);
}

TEST_F(SimulatorTest, ResetReleasesAndForgets) {
  Stream stream;
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(launch(stream, [] {}));
  ASSERT_OK(orSimSetDelay(10'000'000, 0));
  ASSERT_OK(orSimFailKernel(nullptr, 0));
  ASSERT_OK(orSimFailAllocation(3));
  ASSERT_OK(orSimReset());
  EXPECT_OK(orStreamSynchronize(stream));
  ASSERT_OK(launch(stream, [] {}));
  EXPECT_OK(orStreamSynchronize(stream));
  DeviceMemory memory(64);
  unsigned int microseconds = 7;
  unsigned int seed = 7;
  EXPECT_OK(orSimGetDelay(&microseconds, &seed));
  EXPECT_EQ(microseconds, 0u);
  EXPECT_EQ(seed, 0u);
}

TEST_F(SimulatorTest, ResetFreesThoseInTheMiddleOfADelay) {
  Stream stream;
  ASSERT_OK(orSimSetDelay(10'000'000, 0));
  ASSERT_OK(launch(stream, [] {}));
  const auto start = Clock::now();
  std::thread waiting([&] { EXPECT_OK(orStreamSynchronize(stream)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_OK(orSimReset());
  waiting.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(9));
}

TEST_F(SimulatorTest, EachTaskIsDelayed) {
  Stream stream;
  ASSERT_OK(orSimSetDelay(2000, 0));
  const auto start = Clock::now();
  for (int i = 0; i < 5; ++i) ASSERT_OK(launch(stream, [] {}));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(10));
}

// The random delays of many tasks add up to half of the longest ones.
TEST_F(SimulatorTest, RandomDelaysAreRandom) {
  Stream stream;
  constexpr int kTasks = 200;
  std::vector<Clock::time_point> times(kTasks);
  ASSERT_OK(orSimSetDelay(1000, 42));
  const auto start = Clock::now();
  for (auto& time : times) {
    ASSERT_OK(launch(stream, [&] { time = Clock::now(); }));
  }
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_GE(times.back() - start, std::chrono::milliseconds(80));  // expected: 100
  int quick = 0;
  for (int i = 1; i < kTasks; ++i) {
    quick += times[i] - times[i - 1] < std::chrono::microseconds(990);
  }
  EXPECT_GT(quick, 20);
}

TEST_F(SimulatorTest, KernelFailsWhereItWasOrdered) {
  std::atomic<int> ran = 0;
  auto count = [&] {
    ++ran;
    return orSuccess;
  };
  ASSERT_OK(orSimFailKernel("add", 1));
  ASSERT_OK(launchBody(nullptr, count, "add"));
  ASSERT_OK(launchBody(nullptr, count, "mul"));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(ran, 2);
  ASSERT_OK(launchBody(nullptr, count, "add"));
  EXPECT_FAILS(orDeviceSynchronize(), orErrorLaunchFailure, "kernel 'add' on stream 0");
  EXPECT_FAILS(orDeviceSynchronize(), orErrorLaunchFailure, "orSimFailKernel()");
  EXPECT_EQ(ran, 2);
  EXPECT_OK(orDeviceReset());
  ASSERT_OK(launchBody(nullptr, count, "add"));  // ordered once, done once
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(ran, 3);
}

// Also one of a graph inside the graph; and only in the launch that was ordered.
TEST_F(SimulatorTest, KernelsOfAGraphCountWhenItIsLaunched) {
  std::atomic<int> ran = 0;
  Stream stream;
  orGraph_t graphs[2] = {};
  orGraphExec_t execs[2] = {};
  ASSERT_OK(orSimFailKernel("add", 3));
  for (int i = 0; i < 2; ++i) {
    auto count = [&] {
      ++ran;
      return orSuccess;
    };
    ASSERT_OK(orStreamBeginCapture(stream, orStreamCaptureModeRelaxed));
    ASSERT_OK(launchBody(stream, count, "add"));
    if (i > 0) ASSERT_OK(orGraphLaunch(execs[0], stream));
    ASSERT_OK(orStreamEndCapture(stream, &graphs[i]));
    ASSERT_OK(orGraphInstantiate(&execs[i], graphs[i]));
  }
  ASSERT_OK(orGraphLaunch(execs[1], stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 2);
  ASSERT_OK(orGraphLaunch(execs[1], stream));
  EXPECT_FAILS(orDeviceSynchronize(), orErrorLaunchFailure, "orSimFailKernel()");
  EXPECT_EQ(ran, 3);
  EXPECT_OK(orDeviceReset());
  ASSERT_OK(orGraphLaunch(execs[1], stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 5);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(orGraphExecDestroy(execs[i]));
    EXPECT_OK(orGraphDestroy(graphs[i]));
  }
}

TEST_F(SimulatorTest, AnyKernelCanBeMeant) {
  ASSERT_OK(orSimFailKernel(nullptr, 0));
  ASSERT_OK(launch(nullptr, [] {}));
  EXPECT_EQ(orDeviceSynchronize(), orErrorLaunchFailure);
}

TEST_F(SimulatorTest, ArgumentsOfAFailedKernelAreDestroyedOnce) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  ASSERT_OK(orSimFailKernel("owner", 0));
  ASSERT_OK(orLaunchKernel(
      "owner", [](void*) { return orSuccess; }, nullptr, [](void*) { ++destroyed; },
      nullptr));
  EXPECT_EQ(orDeviceSynchronize(), orErrorLaunchFailure);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(SimulatorTest, AllocationsFailAsOftenAsOrdered) {
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_OK(orSimFailAllocation(2));
  EXPECT_FAILS(orMalloc(&device, 64), orErrorMemoryAllocation, "of 64 bytes failed");
  EXPECT_FAILS(orMallocHost(&host, 64), orErrorMemoryAllocation, "orMallocHost()");
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(host, nullptr);
  EXPECT_OK(orMalloc(&device, 64));
  EXPECT_OK(orMallocHost(&host, 64));
  EXPECT_OK(orFree(device));
  EXPECT_OK(orFreeHost(host));
}

TEST_F(SimulatorTest, TasksOfAHeldGraphWaitTogether) {
  Stream stream;
  std::atomic<int> ran = 0;
  orGraph_t graph = nullptr;
  orGraphExec_t exec = nullptr;
  ASSERT_OK(orStreamBeginCapture(stream, orStreamCaptureModeRelaxed));
  ASSERT_OK(launch(stream, [&] { ++ran; }));
  ASSERT_OK(launch(stream, [&] { ++ran; }));
  ASSERT_OK(orStreamEndCapture(stream, &graph));
  ASSERT_OK(orGraphInstantiate(&exec, graph));
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(orGraphLaunch(exec, stream));
  EXPECT_FALSE(runsSoon(stream));
  EXPECT_EQ(ran, 0);
  ASSERT_OK(orSimRelease(stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 2);
  EXPECT_OK(orGraphExecDestroy(exec));
  EXPECT_OK(orGraphDestroy(graph));
}

TEST_F(SimulatorTest, HoldsFromManyThreadsComeOut) {
  Stream streams[3];
  std::atomic<int> ran = 0;
  ASSERT_OK(orSimSetDelay(50, 3));
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 100; ++j) {
        orStream_t stream = streams[(i + j) % 3];
        EXPECT_OK(orSimHold(stream));
        EXPECT_OK(launch(stream, [&] { ++ran; }));
        EXPECT_OK(orSimRelease(stream));
        if (j % 10 == 0) EXPECT_OK(orStreamSynchronize(stream));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(ran, 600);
}

TEST(SimulatorDeathTest, ExitWithAHeldStreamDoesNotHang) {
  EXPECT_EXIT(
      {
        orStream_t stream = nullptr;
        static std::atomic<bool> ran = false;
        bool good = orStreamCreate(&stream) == orSuccess &&
                    orSimHold(stream) == orSuccess && orSimHold(nullptr) == orSuccess &&
                    launch(stream, [] { ran = true; }) == orSuccess &&
                    launch(nullptr, [] { ran = true; }) == orSuccess;
        std::thread([&] { orStreamSynchronize(stream); }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::exit(good && !ran ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SimulatorDeathTest, ExitInTheMiddleOfADelayDoesNotWaitForItsEnd) {
  EXPECT_EXIT(
      {
        bool good = orSimSetDelay(10'000'000, 0) == orSuccess &&
                    launch(nullptr, [] { _exit(7); }) == orSuccess;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SimulatorDeathTest, LaunchesDoNotWaitWhileAStreamIsHeld) {
  setenv("OPENREG_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EXIT(
      {
        std::atomic<bool> ran = false;
        bool good = orSimHold(nullptr) == orSuccess &&
                    launch(nullptr, [&] { ran = true; }) == orSuccess && !ran &&
                    orSimRelease(nullptr) == orSuccess &&
                    launch(nullptr, [] {}) == orSuccess && ran;
        _exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  unsetenv("OPENREG_LAUNCH_BLOCKING");
}

TEST(SimulatorDeathTest, EnvironmentSetsTheDelay) {
  const std::tuple<const char*, unsigned int, unsigned int> cases[] = {
      {"0", 0, 0},
      {"150", 150, 0},
      {"150:9", 150, 9},
      {"10000000:4294967295", 10'000'000, 4294967295}};
  for (auto [text, microseconds, seed] : cases) {
    setenv("OPENREG_SIM_DELAY", text, 1);
    EXPECT_EXIT(
        {
          unsigned int delay = 1;
          unsigned int number = 1;
          auto is = [&] {
            return orSimGetDelay(&delay, &number) == orSuccess &&
                   delay == microseconds && number == seed;
          };
          bool good = is() && orSimSetDelay(5, 5) == orSuccess && !is() &&
                      orSimReset() == orSuccess && is();
          _exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
  }
  unsetenv("OPENREG_SIM_DELAY");
}

TEST(SimulatorDeathTest, BadEnvironmentIsExplained) {
  for (const char* text : {"", "soon", "5:", ":5", "5:x", "5:6:7", "-1", "10000001",
                           "5:4294967296", "1K"}) {
    setenv("OPENREG_SIM_DELAY", text, 1);
    EXPECT_EXIT(
        {
          bool good = orSimSetDelay(1, 1) == orErrorInitializationError;
          std::fprintf(stderr, "%s\n", orGetErrorDetail());
          _exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "OPENREG_SIM_DELAY='.*' is not a number of micro");
  }
  unsetenv("OPENREG_SIM_DELAY");
}

}  // namespace
}  // namespace openreg_test
