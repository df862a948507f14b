// Streams: order, independence, life and number. See docs/start/architecture.md.
#include <fstream>
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

using StreamTest = DriverTest;

TEST_F(StreamTest, RunsTasksInTheOrderOfTheCalls) {
  Stream stream;
  std::vector<int> order;
  for (int i = 0; i < 5000; ++i) {  // more than the queue holds
    ASSERT_OK(launch(stream, [&order, i] { order.push_back(i); }));
  }
  EXPECT_OK(orStreamSynchronize(stream));
  ASSERT_EQ(order.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(order[i], i);
}

TEST_F(StreamTest, RunsWithoutAnyFurtherCall) {
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  gate.awaitArrival();
}

TEST_F(StreamTest, RunsAgainAfterTheWorkerHasGoneToSleep) {
  Stream stream;
  for (int i = 0; i < 3; ++i) {
    Gate gate;
    ASSERT_OK(launchGate(stream, gate));
    gate.awaitArrival();
    gate.open();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // lets it fall asleep
  }
  EXPECT_OK(orStreamSynchronize(stream));
}

TEST_F(StreamTest, DoesNotWaitForOtherStreams) {
  Stream held;
  Stream running;
  Gate gate;
  bool ran = false;
  ASSERT_OK(launchGate(held, gate));
  ASSERT_OK(launch(running, [&] { ran = true; }));
  EXPECT_OK(orStreamSynchronize(running));
  EXPECT_TRUE(ran);
  ASSERT_OK(launch(nullptr, [] {}));
  EXPECT_OK(orStreamSynchronize(nullptr));
}

TEST_F(StreamTest, RunsKernelsOfTwoStreamsAtTheSameTime) {
  Stream a;
  Stream b;
  Gate first;
  Gate second;
  // Each kernel needs the other one to run.
  ASSERT_OK(launch(a, [&] {
    first.open();
    second.pass();
  }));
  ASSERT_OK(launch(b, [&] {
    second.open();
    first.pass();
  }));
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(StreamTest, EachDeviceHasItsDefaultStream) {
  Gate gate;
  ASSERT_OK(launchGate(nullptr, gate));
  ASSERT_OK(orSetDevice(1));
  int device = -1;
  ASSERT_OK(launch(nullptr, [&] { EXPECT_OK(orGetDevice(&device)); }));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(device, 1);
  EXPECT_OK(orStreamGetDevice(nullptr, &device));
  EXPECT_EQ(device, 1);
}

TEST_F(StreamTest, BelongsToTheDeviceItWasMadeOn) {
  ASSERT_OK(orSetDevice(1));
  Stream stream;
  ASSERT_OK(orSetDevice(0));
  int device = -1;
  EXPECT_OK(orStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 1);
  device = -1;
  ASSERT_OK(launch(stream, [&] { EXPECT_OK(orGetDevice(&device)); }));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(device, 1);
  // A thread that ran the task itself has its own device back.
  EXPECT_OK(orGetDevice(&device));
  EXPECT_EQ(device, 0);
}

TEST_F(StreamTest, QueryIsNotReadyWhileWorkRuns) {
  Stream stream;
  EXPECT_OK(orStreamQuery(stream));
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  EXPECT_EQ(orStreamQuery(stream), orErrorNotReady);
  gate.awaitArrival();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(orStreamQuery(stream), orErrorNotReady);
  gate.open();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_OK(orStreamQuery(stream));
}

TEST_F(StreamTest, QueryIsNotReadyBeforeArgumentsAreDestroyed) {
  static Gate* gate = nullptr;
  Gate here;
  gate = &here;
  Stream stream;
  auto kernel = [](void*) { return orSuccess; };
  auto destroy = [](void*) { gate->pass(); };
  ASSERT_OK(orLaunchKernel("destroyed late", kernel, nullptr, destroy, stream));
  here.awaitArrival();
  EXPECT_EQ(orStreamQuery(stream), orErrorNotReady);
  here.open();
  EXPECT_OK(orStreamSynchronize(stream));
}

TEST_F(StreamTest, DeviceSynchronizeWaitsForAllItsStreams) {
  std::vector<Stream> streams(8);
  std::atomic<int> ran = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK(launch(streams[i % 8], [&] { ++ran; }));
  }
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(ran, 200);
}

TEST_F(StreamTest, FullQueueMakesTheLaunchWait) {
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  gate.awaitArrival();
  std::atomic<int> launched = 0;
  std::atomic<int> ran = 0;
  std::thread host([&] {
    for (int i = 0; i < 3000; ++i) {
      EXPECT_OK(launch(stream, [&] { ++ran; }));
      ++launched;
    }
  });
  while (launched < 1023) std::this_thread::yield();
  EXPECT_EQ(launched, 1023);  // with the gate: 1024 pending
  gate.open();
  host.join();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 3000);
}

TEST_F(StreamTest, DestroyedStreamFinishesItsWork) {
  Gate gate;
  std::atomic<int> ran = 0;
  orStream_t stream = nullptr;
  ASSERT_OK(orStreamCreate(&stream));
  ASSERT_OK(launchGate(stream, gate));
  for (int i = 0; i < 100; ++i) ASSERT_OK(launch(stream, [&] { ++ran; }));
  EXPECT_OK(orStreamDestroy(stream));
  EXPECT_FAILS(launch(stream, [] {}), orErrorInvalidResourceHandle, "orLaunchKernel()");
  EXPECT_FAILS(orStreamDestroy(stream), orErrorInvalidResourceHandle, "destroyed");
  EXPECT_EQ(ran, 0);
  gate.open();
  EXPECT_OK(orDeviceSynchronize());  // waits also for streams without a handle
  EXPECT_EQ(ran, 100);
}

TEST_F(StreamTest, StaleHandleStaysDeadWhenItsPlaceIsTakenAgain) {
  std::vector<orStream_t> dead;
  for (int i = 0; i < 100; ++i) {
    orStream_t stream = nullptr;
    ASSERT_OK(orStreamCreate(&stream));
    ASSERT_OK(orStreamDestroy(stream));
    dead.push_back(stream);
  }
  Stream live;
  for (orStream_t stream : dead) {
    EXPECT_EQ(orStreamQuery(stream), orErrorInvalidResourceHandle);
  }
  EXPECT_OK(orStreamQuery(live));
}

int threads() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "Threads:") break;
  }
  int count = 0;
  status >> count;
  return count;
}

TEST_F(StreamTest, ThousandsOfIdleStreamsHaveNoThreads) {
  std::thread([] {}).join();  // with the first thread a sanitizer starts its own
  int before = threads();
  std::vector<Stream> streams(4000);
  EXPECT_LE(threads(), before);  // workers of earlier streams may end meanwhile
  std::atomic<int> ran = 0;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 5; ++j) ASSERT_OK(launch(streams[i * 20], [&] { ++ran; }));
  }
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(ran, 1000);
  EXPECT_LE(threads(), before + 200);
}

TEST_F(StreamTest, WorkersOfDestroyedStreamsEnd) {
  // Earlier tests may have left workers that are about to end: only more of them count.
  int before = threads();
  for (int i = 0; i < 50; ++i) {
    Stream stream;
    ASSERT_OK(launch(stream, [] {}));
    ASSERT_OK(orStreamSynchronize(stream));
  }
  for (int i = 0; i < 5000 && threads() > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(threads(), before + 1);  // the default stream may have come to life
}

TEST_F(StreamTest, PriorityIsClampedAndKept) {
  int least = -1;
  int greatest = 1;
  ASSERT_OK(orDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
  struct {
    int asked;
    int got;
  } cases[] = {{0, 0}, {greatest, greatest}, {-1, -1}, {100, 0}, {-100, greatest}};
  for (auto [asked, got] : cases) {
    orStream_t stream = nullptr;
    ASSERT_OK(orStreamCreateWithPriority(&stream, asked));
    int priority = 77;
    EXPECT_OK(orStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, got);
    bool ran = false;
    ASSERT_OK(launch(stream, [&] { ran = true; }));
    EXPECT_OK(orStreamSynchronize(stream));
    EXPECT_TRUE(ran);
    EXPECT_OK(orStreamDestroy(stream));
  }
}

TEST_F(StreamTest, ManyThreadsMayWaitForOneStream) {
  Stream stream;
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(launch(stream, [&] { ran = true; }));
  std::vector<std::thread> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back([&] {
      EXPECT_OK(orStreamSynchronize(stream));
      EXPECT_TRUE(ran);
    });
  }
  gate.awaitArrival();
  gate.open();
  for (auto& thread : waiting) thread.join();
}

}  // namespace
}  // namespace openreg_test
