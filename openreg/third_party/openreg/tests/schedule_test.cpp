// Random schedules: no dependency is ever broken, nothing hangs. See
// docs/start/architecture.md.
#include <random>
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

class ScheduleTest : public DriverTest, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleTest, testing::Range(0u, 6u));

// What must have run before a stream goes on: the number of tasks of each stream.
using Clock = std::vector<int>;

void merge(Clock& into, const Clock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// One host thread drives its own streams and events at random, and each task checks
// that everything it depends on has run.
void drive(unsigned seed) {
  constexpr int kStreams = 6;
  constexpr int kEvents = 4;
  std::mt19937 random(seed);
  std::vector<orStream_t> streams(kStreams);
  for (int i = 0; i < kStreams; ++i) {
    EXPECT_OK(orSetDevice(i % 2));
    EXPECT_OK(orStreamCreateWithPriority(&streams[i], -(i % 3)));
  }
  Event timed[kEvents / 2];
  Event untimed[] = {Event(orEventDisableTiming), Event(orEventDisableTiming)};
  orEvent_t events[kEvents] = {timed[0], untimed[0], timed[1], untimed[1]};
  std::vector<std::atomic<int>> done(kStreams);
  std::vector<Clock> needs(kStreams, Clock(kStreams));
  std::vector<Clock> recorded(kEvents, Clock(kStreams));
  std::atomic<int> broken = 0;
  auto check = [&](const Clock& clock) {
    for (int i = 0; i < kStreams; ++i) broken += done[i] < clock[i];
  };
  for (int step = 0; step < 4000; ++step) {
    int s = random() % kStreams;
    int e = random() % kEvents;
    switch (random() % 16) {
      case 0:
      case 1:
      case 2:
        ASSERT_OK(orEventRecord(events[e], streams[s]));
        recorded[e] = needs[s];
        break;
      case 3:
      case 4:
      case 5:
        ASSERT_OK(orStreamWaitEvent(streams[s], events[e]));
        merge(needs[s], recorded[e]);
        break;
      case 6:
        if (random() % 8) break;
        ASSERT_OK(orEventSynchronize(events[e]));
        check(recorded[e]);
        break;
      case 7:
        if (random() % 8) break;
        ASSERT_OK(orStreamSynchronize(streams[s]));
        check(needs[s]);
        break;
      case 8:
        if (orEventQuery(events[e]) == orSuccess) check(recorded[e]);
        break;
      case 9:
        if (orStreamQuery(streams[s]) == orSuccess) check(needs[s]);
        break;
      case 10:
        if (random() % 64) break;
        // The stream goes with its work pending; a new one takes its place.
        ASSERT_OK(orEventRecord(events[e], streams[s]));
        recorded[e] = needs[s];
        ASSERT_OK(orStreamDestroy(streams[s]));
        ASSERT_OK(orSetDevice(random() % 2));
        ASSERT_OK(orStreamCreate(&streams[s]));
        ASSERT_OK(orStreamWaitEvent(streams[s], events[e]));
        break;
      default:
        ASSERT_OK(launch(streams[s], [&, s, before = needs[s]] {
          check(before);
          ++done[s];
        }));
        ++needs[s][s];
    }
  }
  for (int i = 0; i < kStreams; ++i) {
    EXPECT_OK(orStreamSynchronize(streams[i]));
    check(needs[i]);
    EXPECT_OK(orStreamDestroy(streams[i]));
  }
  EXPECT_EQ(broken, 0);
}

TEST_P(ScheduleTest, OneThread) {
  drive(GetParam());
  EXPECT_OK(orSetDevice(0));
}

TEST_P(ScheduleTest, SeveralThreadsAndDeviceWideWaits) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back(drive, 100 * GetParam() + i);
  std::atomic<bool> stop = false;
  std::thread waiting([&] {
    while (!stop) {
      for (int device : {0, 1}) {
        EXPECT_OK(orSetDevice(device));
        EXPECT_OK(orDeviceSynchronize());
      }
      std::this_thread::yield();
    }
  });
  for (auto& thread : threads) thread.join();
  stop = true;
  waiting.join();
}

TEST_F(DriverTest, SharedStreamCountsEveryTask) {
  Stream stream;
  int ran = 0;  // not atomic: tasks of one stream never overlap
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 2000; ++j) {
        EXPECT_OK(launch(stream, [&] { ++ran; }));
        if (j % 10 == 0) EXPECT_OK(orStreamSynchronize(stream));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 8000);
}

TEST_F(DriverTest, HandlesMayDieWhileOtherThreadsUseThem) {
  // Wrong programs, but they must get errors, not crashes.
  for (int round = 0; round < 30; ++round) {
    orStream_t stream = nullptr;
    orEvent_t event = nullptr;
    ASSERT_OK(orStreamCreate(&stream));
    ASSERT_OK(orEventCreate(&event));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (;;) {
          orError_t results[] = {launch(stream, [] {}), orEventRecord(event, stream),
                                 orStreamWaitEvent(stream, event), orEventQuery(event),
                                 orStreamSynchronize(stream)};
          bool dead = false;
          for (orError_t result : results) {
            dead = dead || result == orErrorInvalidResourceHandle;
            EXPECT_TRUE(result == orSuccess || result == orErrorNotReady ||
                        result == orErrorInvalidResourceHandle)
                << orGetErrorName(result);
          }
          if (dead) break;
        }
      });
    }
    EXPECT_OK(orStreamDestroy(stream));
    EXPECT_OK(orEventDestroy(event));
    for (auto& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace openreg_test
