// The record for profilers: what is in it, when, and what is left out. See
// docs/modules/profiler.md.
#include "openreg_activity.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace openreg_test {
namespace {

uint64_t tick() {
  static std::atomic<uint64_t> ticks = 0;
  return ++ticks;
}

// Records while it lives. Its clock counts, so no two times are equal.
class Recorder {
 public:
  Recorder() { EXPECT_OK(orActivityStart(receive, tick, this)); }
  ~Recorder() {
    if (recording_) stop();
  }
  size_t stop() {
    size_t unfinished = 0;
    EXPECT_OK(orActivityStop(&unfinished));
    recording_ = false;
    return unfinished;
  }
  std::vector<orActivity> all() {
    std::lock_guard lock(mutex_);
    return activities_;
  }
  // The records of a kind, the earliest first.
  std::vector<orActivity> of(orActivityKind kind) {
    std::map<uint64_t, orActivity> sorted;
    for (auto& activity : all()) {
      if (activity.kind == kind) sorted[activity.begin] = activity;
    }
    std::vector<orActivity> result;
    for (auto& [begin, activity] : sorted) result.push_back(activity);
    return result;
  }
  std::vector<std::string> names(orActivityKind kind) {
    std::vector<std::string> result;
    for (auto& activity : of(kind)) result.push_back(activity.name);
    return result;
  }

 private:
  static void receive(const orActivity* activity, void* user) {
    auto* self = static_cast<Recorder*>(user);
    std::lock_guard lock(self->mutex_);
    self->activities_.push_back(*activity);
  }
  bool recording_ = true;
  std::mutex mutex_;
  std::vector<orActivity> activities_;
};

using Names = std::vector<std::string>;

class ActivityTest : public DriverTest {};

TEST_F(ActivityTest, KernelHasTheNumberOfItsLaunchAndRunsAfterItBegan) {
  Stream stream;
  ASSERT_OK(orSetDevice(1));
  Stream elsewhere;
  ASSERT_OK(orSetDevice(0));
  Recorder recorder;
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "first"));
  ASSERT_OK(launchBody(elsewhere, [] { return orSuccess; }, "second"));
  ASSERT_OK(orStreamSynchronize(stream));
  ASSERT_OK(orStreamSynchronize(elsewhere));
  auto calls = recorder.of(orActivityCall);
  EXPECT_EQ(recorder.names(orActivityCall),
            (Names{"orLaunchKernel", "orLaunchKernel", "orStreamSynchronize",
                   "orStreamSynchronize"}));
  std::map<std::string, orActivity> kernels;
  for (auto& kernel : recorder.of(orActivityKernel)) kernels[kernel.name] = kernel;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels["first"].correlation, calls[0].correlation);
  EXPECT_EQ(kernels["second"].correlation, calls[1].correlation);
  EXPECT_EQ(kernels["first"].device, 0);
  EXPECT_EQ(kernels["second"].device, 1);
  std::set<uint64_t> numbers;
  for (auto& call : calls) {
    EXPECT_LT(call.begin, call.end);
    EXPECT_EQ(call.stream, -1);
    numbers.insert(call.correlation);
  }
  EXPECT_EQ(numbers.size(), calls.size());
  for (auto& [name, kernel] : kernels) {
    EXPECT_LT(kernel.begin, kernel.end);
    EXPECT_GE(kernel.stream, 0);
  }
  EXPECT_GT(kernels["first"].begin, calls[0].begin);
  EXPECT_LT(kernels["first"].end, calls[2].end);
}

TEST_F(ActivityTest, CopiesAndFillsTellTheirBytesAndKinds) {
  DeviceMemory a(64);
  DeviceMemory b(64);
  PinnedMemory pinned(64);
  char pageable[64] = {};
  Recorder recorder;
  ASSERT_OK(orMemcpyAsync(a.get(), pinned.get(), 48, orMemcpyHostToDevice, nullptr));
  ASSERT_OK(orMemcpyAsync(a.get(), pageable, 32, orMemcpyHostToDevice, nullptr));
  ASSERT_OK(orMemcpy(a.get(), pageable, 24, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpyAsync(b.get(), a.get(), 16, orMemcpyDeviceToDevice, nullptr));
  ASSERT_OK(orMemcpyAsync(pinned.get(), b.get(), 8, orMemcpyDeviceToHost, nullptr));
  ASSERT_OK(orMemcpyAsync(pageable, b.get(), 4, orMemcpyDeviceToHost, nullptr));
  ASSERT_OK(orMemcpy(pageable, pinned.get(), 2, orMemcpyHostToHost));
  ASSERT_OK(orMemsetAsync(a.get(), 1, 64, nullptr));
  ASSERT_OK(orMemset(a.get(), 1, 1));
  ASSERT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(recorder.names(orActivityMemcpy),
            (Names{"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pageable -> Device)",
                   "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoD (Device -> Device)",
                   "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Pageable)",
                   "Memcpy HtoH (Pinned -> Pageable)"}));
  std::vector<size_t> bytes;
  for (auto& copy : recorder.of(orActivityMemcpy)) bytes.push_back(copy.bytes);
  EXPECT_EQ(bytes, (std::vector<size_t>{48, 32, 24, 16, 8, 4, 2}));
  auto fills = recorder.of(orActivityMemset);
  ASSERT_EQ(fills.size(), 2u);
  EXPECT_EQ(fills[0].bytes, 64u);
  EXPECT_STREQ(fills[0].name, "Memset (Device)");
}

TEST_F(ActivityTest, CallsThatWaitAndAllocateAreThereAndQueriesAreNot) {
  Stream stream;
  Event event;
  Recorder recorder;
  void* memory = nullptr;
  ASSERT_OK(orMalloc(&memory, 64));
  ASSERT_OK(orEventRecord(event, stream));
  ASSERT_OK(orStreamWaitEvent(nullptr, event));
  ASSERT_OK(orEventSynchronize(event));
  EXPECT_OK(orStreamQuery(stream));
  EXPECT_OK(orEventQuery(event));
  ASSERT_OK(orLaunchHostFunc(stream, [](void*) {}, nullptr));
  ASSERT_OK(orDeviceSynchronize());
  ASSERT_OK(orFree(memory));
  ASSERT_OK(orMallocHost(&memory, 64));
  ASSERT_OK(orFreeHost(memory));
  EXPECT_EQ(recorder.names(orActivityCall),
            (Names{"orMalloc", "orEventRecord", "orStreamWaitEvent",
                   "orEventSynchronize", "orLaunchHostFunc", "orDeviceSynchronize",
                   "orFree", "orMallocHost", "orFreeHost"}));
  EXPECT_EQ(recorder.all().size(), 9u) << "no work of a kind that is recorded";
}

TEST_F(ActivityTest, GraphShowsItsKernelsUnderEachLaunch) {
  Stream stream;
  ASSERT_OK(orStreamBeginCapture(stream, orStreamCaptureModeGlobal));
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "one"));
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "two"));
  orGraph_t graph = nullptr;
  ASSERT_OK(orStreamEndCapture(stream, &graph));
  orGraphExec_t exec = nullptr;
  ASSERT_OK(orGraphInstantiate(&exec, graph));
  {
    Recorder recorder;
    ASSERT_OK(orGraphLaunch(exec, stream));
    ASSERT_OK(orGraphLaunch(exec, stream));
    ASSERT_OK(orStreamSynchronize(stream));
    EXPECT_EQ(recorder.names(orActivityKernel), (Names{"one", "two", "one", "two"}));
    auto calls = recorder.of(orActivityCall);
    auto kernels = recorder.of(orActivityKernel);
    EXPECT_EQ(kernels[1].correlation, calls[0].correlation);
    EXPECT_EQ(kernels[2].correlation, calls[1].correlation);
    EXPECT_LT(kernels[1].end, kernels[2].begin);
  }
  ASSERT_OK(orGraphExecDestroy(exec));
  ASSERT_OK(orGraphDestroy(graph));
}

TEST_F(ActivityTest, WorkFromBeforeTheStartIsLeftOut) {
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  gate.awaitArrival();
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "before"));
  Recorder recorder;
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "meanwhile"));
  gate.open();
  ASSERT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(recorder.names(orActivityKernel), Names{"meanwhile"});
}

TEST_F(ActivityTest, StopWaitsForNoTaskAndCountsThoseThatHaveNotRun) {
  Stream stream;
  Gate gate;
  {
    Recorder recorder;
    ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "done"));
    ASSERT_OK(orStreamSynchronize(stream));
    ASSERT_OK(launchGate(stream, gate));
    gate.awaitArrival();
    ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "late"));
    EXPECT_EQ(recorder.stop(), 2u);
    EXPECT_EQ(recorder.names(orActivityKernel), Names{"done"});
  }
  // The next recording has nothing to do with what is left.
  Recorder next;
  gate.open();
  ASSERT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(next.names(orActivityKernel), Names{});
  EXPECT_EQ(next.stop(), 0u);
}

TEST_F(ActivityTest, HeldStreamDoesNotHoldTheStop) {
  Stream stream;
  Recorder recorder;
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }));
  EXPECT_EQ(recorder.stop(), 1u);
  ASSERT_OK(orSimRelease(stream));
}

TEST_F(ActivityTest, FaultyKernelIsRecordedAndDroppedOnesAreNot) {
  Stream stream;
  Recorder recorder;
  ASSERT_OK(launchBody(stream, [] { return orErrorLaunchFailure; }, "faulty"));
  EXPECT_EQ(orStreamSynchronize(stream), orErrorLaunchFailure);
  ASSERT_OK(orDeviceReset());
  ASSERT_OK(orSimHold(stream));
  ASSERT_OK(launchBody(stream, [] { return orErrorLaunchFailure; }, "again"));
  ASSERT_OK(launchBody(stream, [] { return orSuccess; }, "dropped"));
  ASSERT_OK(orSimRelease(stream));
  EXPECT_EQ(orStreamSynchronize(stream), orErrorLaunchFailure);
  ASSERT_OK(orDeviceReset());
  EXPECT_EQ(recorder.names(orActivityKernel), (Names{"faulty", "again"}));
  EXPECT_EQ(recorder.stop(), 0u);
}

TEST_F(ActivityTest, OneRecorderAtATimeAndItsFunctionCannotCallTheDriver) {
  static orError_t inside[3];
  auto callDriver = [](const orActivity*, void*) {
    size_t count = 0;
    inside[0] = orDeviceSynchronize();
    inside[1] = orActivityStop(&count);
    inside[2] = orMalloc(nullptr, 1);
  };
  size_t count = 1;
  EXPECT_FAILS(orActivityStop(&count), orErrorInvalidValue, "no recording is active");
  ASSERT_OK(orActivityStart(callDriver, nullptr, nullptr));
  EXPECT_FAILS(orActivityStart(callDriver, nullptr, nullptr), orErrorNotPermitted,
               "orActivityStop()");
  ASSERT_OK(orDeviceSynchronize());
  ASSERT_OK(orActivityStop(&count));
  EXPECT_EQ(count, 0u);
  for (orError_t error : inside) EXPECT_EQ(error, orErrorNotPermitted);
}

TEST_F(ActivityTest, WithoutAClockTheTimesAreThoseOfTheSystem) {
  static orActivity last;
  auto keep = [](const orActivity* activity, void*) { last = *activity; };
  auto now = [] {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::system_clock::now().time_since_epoch())
            .count());
  };
  ASSERT_OK(orActivityStart(keep, nullptr, nullptr));
  const uint64_t before = now();
  ASSERT_OK(orDeviceSynchronize());
  const uint64_t after = now();
  size_t count = 0;
  ASSERT_OK(orActivityStop(&count));
  EXPECT_LE(before, last.begin);
  EXPECT_LE(last.begin, last.end);
  EXPECT_LE(last.end, after);
}

// Streams, threads that launch, and recordings that come and go.
TEST_F(ActivityTest, EveryKernelOfManyThreadsIsRecordedOnceAndNoneOverlapInAStream) {
  constexpr int kThreads = 4;
  constexpr int kKernels = 200;
  Stream streams[3];
  Recorder recorder;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < kKernels; ++k) {
        EXPECT_OK(launchBody(streams[(i + k) % 3], [] { return orSuccess; }, "many"));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_OK(orDeviceSynchronize());
  auto kernels = recorder.of(orActivityKernel);
  EXPECT_EQ(kernels.size(), size_t{kThreads} * kKernels);
  std::set<uint64_t> launched;
  for (auto& call : recorder.of(orActivityCall)) launched.insert(call.correlation);
  std::map<int, uint64_t> ends;
  for (auto& kernel : kernels) {
    EXPECT_EQ(launched.erase(kernel.correlation), 1u);
    EXPECT_LT(ends[kernel.stream], kernel.begin);
    ends[kernel.stream] = kernel.end;
  }
  EXPECT_EQ(ends.size(), 3u);
  EXPECT_EQ(recorder.stop(), 0u);
}

TEST_F(ActivityTest, RecordingsMayComeAndGoWhileOthersLaunch) {
  Stream stream;
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) {
      EXPECT_OK(launchBody(stream, [] { return orSuccess; }));
      EXPECT_OK(orStreamSynchronize(stream));
    }
  });
  for (int i = 0; i < 200; ++i) {
    Recorder recorder;
    ASSERT_OK(orMemset(nullptr, 0, 0));
    EXPECT_LE(recorder.stop(), 1u);
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace openreg_test
