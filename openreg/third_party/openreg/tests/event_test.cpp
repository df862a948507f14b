// Events: records, waits across streams, times. See docs/start/architecture.md.
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

// With and without timing: the two take different ways through the driver.
class EventTest : public DriverTest,
                  public testing::WithParamInterface<unsigned int> {};

INSTANTIATE_TEST_SUITE_P(Flags, EventTest,
                         testing::Values(orEventDefault, orEventDisableTiming),
                         [](const auto& info) {
                           return info.param == orEventDefault ? "Timing" : "NoTiming";
                         });

TEST_P(EventTest, CountsAsCompletedBeforeTheFirstRecord) {
  Event event(GetParam());
  Stream stream;
  EXPECT_OK(orEventQuery(event));
  EXPECT_OK(orEventSynchronize(event));
  EXPECT_OK(orStreamWaitEvent(stream, event));
  EXPECT_OK(orStreamSynchronize(stream));
}

TEST_P(EventTest, IsNotReadyWhileTheWorkBeforeItRuns) {
  Event event(GetParam());
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(orEventRecord(event, stream));
  EXPECT_EQ(orEventQuery(event), orErrorNotReady);
  gate.awaitArrival();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(orEventQuery(event), orErrorNotReady);
  gate.open();
  EXPECT_OK(orEventSynchronize(event));
  EXPECT_OK(orEventQuery(event));
}

TEST_P(EventTest, DoesNotWaitForWorkBehindIt) {
  Event event(GetParam());
  Stream stream;
  Gate gate;
  bool ran = false;
  ASSERT_OK(launch(stream, [&] { ran = true; }));
  ASSERT_OK(orEventRecord(event, stream));
  ASSERT_OK(launchGate(stream, gate));
  EXPECT_OK(orEventSynchronize(event));
  EXPECT_TRUE(ran);
  EXPECT_EQ(orStreamQuery(stream), orErrorNotReady);
}

TEST_P(EventTest, HoldsAnotherStreamBack) {
  Event event(GetParam());
  Stream first;
  Stream second;
  Gate gate;
  std::atomic<bool> wrote = false;
  bool saw = false;
  ASSERT_OK(launchGate(first, gate));
  ASSERT_OK(launch(first, [&] { wrote = true; }));
  ASSERT_OK(orEventRecord(event, first));
  ASSERT_OK(orStreamWaitEvent(second, event));
  ASSERT_OK(launch(second, [&] { saw = wrote; }));
  gate.awaitArrival();
  EXPECT_EQ(orStreamQuery(second), orErrorNotReady);
  gate.open();
  EXPECT_OK(orStreamSynchronize(second));
  EXPECT_TRUE(saw);
}

TEST_P(EventTest, HoldsAStreamOfAnotherDeviceBack) {
  Event event(GetParam());
  Stream first;
  ASSERT_OK(orSetDevice(1));
  Stream second;
  Gate gate;
  std::atomic<bool> wrote = false;
  bool saw = false;
  ASSERT_OK(launchGate(first, gate));
  ASSERT_OK(launch(first, [&] { wrote = true; }));
  ASSERT_OK(orEventRecord(event, first));
  ASSERT_OK(orStreamWaitEvent(second, event));
  ASSERT_OK(launch(second, [&] { saw = wrote; }));
  gate.open();
  EXPECT_OK(orDeviceSynchronize());  // of device 1
  EXPECT_TRUE(saw);
}

TEST_P(EventTest, WaitKeepsTheRecordItWasGiven) {
  Event event(GetParam());
  Stream first;
  Stream second;
  Stream waiting;
  Gate firstGate;
  Gate secondGate;
  ASSERT_OK(launchGate(first, firstGate));
  ASSERT_OK(orEventRecord(event, first));
  ASSERT_OK(orStreamWaitEvent(waiting, event));
  bool ran = false;
  ASSERT_OK(launch(waiting, [&] { ran = true; }));
  // Recorded again, before the first record has completed.
  ASSERT_OK(launchGate(second, secondGate));
  ASSERT_OK(orEventRecord(event, second));
  firstGate.open();
  EXPECT_OK(orStreamSynchronize(waiting));  // does not need the second gate
  EXPECT_TRUE(ran);
  EXPECT_EQ(orEventQuery(event), orErrorNotReady);  // asks about the second record
  secondGate.open();
  EXPECT_OK(orEventSynchronize(event));
}

TEST_P(EventTest, WaitIsSetWhenItIsCalled) {
  Event event(GetParam());
  Stream first;
  Stream waiting;
  Gate gate;
  ASSERT_OK(
      orStreamWaitEvent(waiting, event));  // not recorded yet: nothing to wait for
  ASSERT_OK(launchGate(first, gate));
  ASSERT_OK(orEventRecord(event, first));
  ASSERT_OK(launch(waiting, [] {}));
  EXPECT_OK(orStreamSynchronize(waiting));
}

TEST_P(EventTest, MayBeDestroyedWhilePending) {
  Stream first;
  Stream second;
  Gate gate;
  std::atomic<bool> wrote = false;
  bool saw = false;
  {
    Event event(GetParam());
    ASSERT_OK(launchGate(first, gate));
    ASSERT_OK(launch(first, [&] { wrote = true; }));
    ASSERT_OK(orEventRecord(event, first));
    ASSERT_OK(orStreamWaitEvent(second, event));
  }
  ASSERT_OK(launch(second, [&] { saw = wrote; }));
  gate.open();
  EXPECT_OK(orStreamSynchronize(second));
  EXPECT_TRUE(saw);
}

TEST_P(EventTest, OutlivesTheStreamItWasRecordedOn) {
  Event event(GetParam());
  Gate gate;
  std::atomic<bool> ran = false;
  orStream_t stream = nullptr;
  ASSERT_OK(orStreamCreate(&stream));
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(launch(stream, [&] { ran = true; }));
  ASSERT_OK(orEventRecord(event, stream));
  ASSERT_OK(orStreamDestroy(stream));
  EXPECT_EQ(orEventQuery(event), orErrorNotReady);
  gate.open();
  EXPECT_OK(orEventSynchronize(event));
  EXPECT_TRUE(ran);
}

TEST_P(EventTest, LongChainsOfStreamsGetThrough) {
  // Longer than threads help each other in a nested way.
  std::vector<Stream> streams(40);
  std::vector<int> order;
  Gate gate;
  ASSERT_OK(launchGate(streams[0], gate));
  for (int i = 0; i < 40; ++i) {
    ASSERT_OK(launch(streams[i], [&order, i] { order.push_back(i); }));
    if (i == 39) break;
    Event event(GetParam());
    ASSERT_OK(orEventRecord(event, streams[i]));
    ASSERT_OK(orStreamWaitEvent(streams[i + 1], event));
  }
  gate.open();
  EXPECT_OK(orStreamSynchronize(streams[39]));
  ASSERT_EQ(order.size(), 40u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(order[i], i);
}

TEST_P(EventTest, TwoStreamsMayWaitForEachOtherInTurn) {
  Stream a;
  Stream b;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    orStream_t here = i % 2 ? b : a;
    orStream_t there = i % 2 ? a : b;
    ASSERT_OK(launch(here, [&order, i] { order.push_back(i); }));
    Event event(GetParam());
    ASSERT_OK(orEventRecord(event, here));
    ASSERT_OK(orStreamWaitEvent(there, event));
  }
  std::thread other([&] { EXPECT_OK(orStreamSynchronize(a)); });
  EXPECT_OK(orStreamSynchronize(b));
  other.join();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i);
}

using EventTimeTest = DriverTest;

TEST_F(EventTimeTest, ElapsedTimeIsThatOfTheRecordsNotOfTheCalls) {
  Event start;
  Event end;
  Stream stream;
  Gate gate;
  ASSERT_OK(orEventRecord(start, stream));
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(orEventRecord(end, stream));
  float ms = -1;
  EXPECT_EQ(orEventElapsedTime(&ms, start, end), orErrorNotReady);
  EXPECT_EQ(ms, -1);
  gate.awaitArrival();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  gate.open();
  EXPECT_OK(orEventSynchronize(end));
  EXPECT_OK(orEventElapsedTime(&ms, start, end));
  EXPECT_GE(ms, 5);
  float back = 0;
  EXPECT_OK(orEventElapsedTime(&back, end, start));
  EXPECT_EQ(back, -ms);
}

TEST_F(EventTimeTest, ElapsedTimeNeedsTwoRecordsWithTiming) {
  Event recorded;
  Event unrecorded;
  Event untimed(orEventDisableTiming);
  ASSERT_OK(orEventRecord(recorded, nullptr));
  ASSERT_OK(orEventRecord(untimed, nullptr));
  ASSERT_OK(orStreamSynchronize(nullptr));
  float ms = 0;
  EXPECT_FAILS(orEventElapsedTime(&ms, recorded, unrecorded),
               orErrorInvalidResourceHandle, "'end' was never recorded");
  EXPECT_FAILS(orEventElapsedTime(&ms, untimed, recorded), orErrorInvalidResourceHandle,
               "orEventDisableTiming");
  EXPECT_OK(orEventElapsedTime(&ms, recorded, recorded));
  EXPECT_EQ(ms, 0);
}

}  // namespace
}  // namespace openreg_test
