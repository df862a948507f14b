// Graphs: replay, life, faults. See docs/start/architecture.md.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "openreg_graph.h"
#include "support.h"

namespace openreg_test {
namespace {

class GraphTest : public DriverTest {
 protected:
  // The executable graph of what `record` enqueues on the stream it is given.
  template <class Record>
  static orGraphExec_t capture(Record record) {
    Stream stream;
    EXPECT_OK(orStreamBeginCapture(stream, orStreamCaptureModeGlobal));
    record(orStream_t(stream));
    orGraph_t graph = nullptr;
    EXPECT_OK(orStreamEndCapture(stream, &graph));
    orGraphExec_t exec = nullptr;
    EXPECT_OK(orGraphInstantiate(&exec, graph));
    EXPECT_OK(orGraphDestroy(graph));
    return exec;
  }
};

TEST_F(GraphTest, ReplaysInCapturedOrder) {
  std::vector<int> order;
  Stream side;
  orGraphExec_t exec = capture([&](orStream_t stream) {
    Event fork;
    Event join;
    ASSERT_OK(launch(stream, [&] { order.push_back(1); }));
    ASSERT_OK(orEventRecord(fork, stream));
    ASSERT_OK(orStreamWaitEvent(side, fork));
    ASSERT_OK(launch(side, [&] { order.push_back(2); }));
    ASSERT_OK(orEventRecord(join, side));
    ASSERT_OK(orStreamWaitEvent(stream, join));
    ASSERT_OK(launch(stream, [&] { order.push_back(3); }));
  });
  EXPECT_TRUE(order.empty());
  for (int i = 0; i < 3; ++i) ASSERT_OK(orGraphLaunch(exec, nullptr));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_OK(orGraphExecDestroy(exec));
}

TEST_F(GraphTest, ReplaysCopiesAndFillsOnPresentData) {
  DeviceMemory memory(16);
  PinnedMemory input(16);
  PinnedMemory output(16);
  orGraphExec_t exec = capture([&](orStream_t stream) {
    ASSERT_OK(orMemcpyAsync(memory.get(), input.get(), 16, orMemcpyDefault, stream));
    ASSERT_OK(launch(stream, [&] {
      auto* bytes = static_cast<char*>(orKernelAddress(memory.get()));
      for (int i = 0; i < 16; ++i) bytes[i] *= 2;
    }));
    ASSERT_OK(orMemsetAsync(memory.get(), 9, 1, stream));
    ASSERT_OK(orMemcpyAsync(output.get(), memory.get(), 16, orMemcpyDefault, stream));
  });
  for (char value : {1, 5}) {
    std::memset(input.get(), value, 16);
    ASSERT_OK(orGraphLaunch(exec, nullptr));
    EXPECT_OK(orStreamSynchronize(nullptr));
    EXPECT_EQ(output.get()[0], 9);
    EXPECT_EQ(output.get()[15], 2 * value);
  }
  EXPECT_OK(orGraphExecDestroy(exec));
}

TEST_F(GraphTest, RunsManyTimes) {
  std::atomic<int> ran = 0;
  orGraphExec_t exec = capture([&](orStream_t stream) {
    for (int i = 0; i < 10; ++i) ASSERT_OK(launch(stream, [&] { ++ran; }));
  });
  Stream stream;
  for (int i = 0; i < 3000; ++i) ASSERT_OK(orGraphLaunch(exec, stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(ran, 30000);
  EXPECT_OK(orGraphExecDestroy(exec));
}

TEST_F(GraphTest, MayBeDestroyedWhileLaunchesArePending) {
  static std::atomic<int> ran;
  static std::atomic<int> destroyed;
  ran = 0;
  destroyed = 0;
  orGraphExec_t exec = capture([&](orStream_t stream) {
    ASSERT_OK(orLaunchKernel(
        "captured",
        [](void*) {
          ++ran;
          return orSuccess;
        },
        nullptr, [](void*) { ++destroyed; }, stream));
  });
  Gate gate;
  ASSERT_OK(launchGate(nullptr, gate));
  ASSERT_OK(orGraphLaunch(exec, nullptr));
  ASSERT_OK(orGraphLaunch(exec, nullptr));
  EXPECT_OK(orGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 0);
  EXPECT_FAILS(orGraphLaunch(exec, nullptr), orErrorInvalidResourceHandle,
               "not a live");
  gate.open();
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(GraphTest, GraphAndExecutablesHaveLivesOfTheirOwn) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  Stream stream;
  ASSERT_OK(orStreamBeginCapture(stream, orStreamCaptureModeGlobal));
  ASSERT_OK(orLaunchKernel(
      "captured", [](void*) { return orSuccess; }, nullptr, [](void*) { ++destroyed; },
      stream));
  orGraph_t graph = nullptr;
  ASSERT_OK(orStreamEndCapture(stream, &graph));
  orGraphExec_t first = nullptr;
  orGraphExec_t second = nullptr;
  ASSERT_OK(orGraphInstantiate(&first, graph));
  ASSERT_OK(orGraphInstantiate(&second, graph));
  EXPECT_OK(orGraphDestroy(graph));
  EXPECT_FAILS(orGraphDestroy(graph), orErrorInvalidResourceHandle, "not a live graph");
  EXPECT_FAILS(orGraphInstantiate(&first, graph), orErrorInvalidResourceHandle,
               "graph");
  EXPECT_OK(orGraphLaunch(first, stream));
  EXPECT_OK(orGraphExecDestroy(first));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(destroyed, 0);
  EXPECT_OK(orGraphLaunch(second, stream));
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_OK(orGraphExecDestroy(second));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(GraphTest, LaunchesOfOneExecutableDoNotOverlap) {
  int inside = 0;  // not atomic: the sanitizers see an overlap as a race
  int most = 0;
  orGraphExec_t exec = capture([&](orStream_t stream) {
    ASSERT_OK(launch(stream, [&] { most = std::max(most, ++inside); }));
    ASSERT_OK(launch(stream, [&] { --inside; }));
  });
  std::vector<Stream> streams(4);
  for (int i = 0; i < 400; ++i) ASSERT_OK(orGraphLaunch(exec, streams[i % 4]));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(most, 1);
  EXPECT_OK(orGraphExecDestroy(exec));
}

TEST_F(GraphTest, MayContainTheLaunchOfAnother) {
  int ran = 0;
  orGraphExec_t inner =
      capture([&](orStream_t stream) { ASSERT_OK(launch(stream, [&] { ++ran; })); });
  orGraphExec_t outer = capture([&](orStream_t stream) {
    ASSERT_OK(orGraphLaunch(inner, stream));
    ASSERT_OK(orGraphLaunch(inner, stream));
  });
  EXPECT_OK(orGraphExecDestroy(inner));
  ASSERT_OK(orGraphLaunch(outer, nullptr));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(ran, 2);
  EXPECT_OK(orGraphExecDestroy(outer));
}

TEST_F(GraphTest, IsPrintedForGraphviz) {
  DeviceMemory memory(16);
  PinnedMemory pinned(16);
  orGraphExec_t inner =
      capture([](orStream_t stream) { ASSERT_OK(launch(stream, [] {})); });
  Stream stream;
  ASSERT_OK(orStreamBeginCapture(stream, orStreamCaptureModeGlobal));
  ASSERT_OK(orMemsetAsync(memory.get(), 1, 16, stream));
  ASSERT_OK(orMemcpyAsync(pinned.get(), memory.get(), 8, orMemcpyDefault, stream));
  ASSERT_OK(orLaunchKernel(
      "a \"quoted\\ name", [](void*) { return orSuccess; }, nullptr, nullptr, stream));
  ASSERT_OK(orLaunchHostFunc(stream, [](void*) {}, nullptr));
  ASSERT_OK(orGraphLaunch(inner, stream));
  orGraph_t graph = nullptr;
  ASSERT_OK(orStreamEndCapture(stream, &graph));
  const std::string path =
      testing::TempDir() + "openreg_graph_test_" + std::to_string(getpid()) + ".dot";
  ASSERT_OK(orGraphDebugDotPrint(graph, path.c_str()));
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text.find("digraph openreg {\n"), 0u);
  size_t at = 0;
  for (const char* part :
       {"task0 [label=\"fill 16 bytes\"", "task1 [label=\"copy 8 bytes\"",
        "task0 -> task1;", "task2 [label=\"a \\\"quoted\\\\ name\"",
        "task3 [label=\"host callback\"", "task4 [label=\"graph of 1 tasks\"",
        "task3 -> task4;", "}\n"}) {
    at = text.find(part, at);
    ASSERT_NE(at, text.npos) << part << " in " << text;
  }
  std::remove(path.c_str());
  EXPECT_FAILS(orGraphDebugDotPrint(graph, "no/such/folder/graph.dot"),
               orErrorInvalidValue, "cannot write 'no/such/folder/graph.dot': No such");
  EXPECT_OK(orGraphDestroy(graph));
  EXPECT_OK(orGraphExecDestroy(inner));
}

TEST_F(GraphTest, EachDeviceThatItUsesWaitsForIt) {
  std::atomic<bool> go = false;
  ASSERT_OK(orSetDevice(1));
  Stream side;
  DeviceMemory memory(16);
  ASSERT_OK(orSetDevice(0));
  orGraphExec_t exec = capture([&](orStream_t stream) {
    Event fork;
    Event join;
    ASSERT_OK(launch(stream, [&] {
      while (!go) std::this_thread::yield();
    }));
    ASSERT_OK(orEventRecord(fork, stream));
    ASSERT_OK(orStreamWaitEvent(side, fork));
    ASSERT_OK(orMemsetAsync(memory.get(), 7, 16, side));
    ASSERT_OK(orEventRecord(join, side));
    ASSERT_OK(orStreamWaitEvent(stream, join));
  });
  ASSERT_OK(orGraphLaunch(exec, nullptr));
  EXPECT_OK(orGraphExecDestroy(exec));
  std::atomic<int> waited = 0;
  std::thread other([&] {
    EXPECT_OK(orSetDevice(1));
    EXPECT_OK(orDeviceSynchronize());
    waited = 1;
    void* more = nullptr;
    EXPECT_OK(orMalloc(&more, 16));
    EXPECT_OK(orFree(more));
    waited = 2;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(waited, 0);
  go = true;
  other.join();
  EXPECT_EQ(waited, 2);
  char value = 0;
  EXPECT_OK(orMemcpy(&value, memory.get(), 1, orMemcpyDefault));
  EXPECT_EQ(value, 7);
}

TEST_F(GraphTest, FaultStopsTheRestOfTheGraph) {
  bool ran = false;
  bool fail = true;
  orGraphExec_t exec = capture([&](orStream_t stream) {
    ASSERT_OK(
        launchBody(stream, [&] { return fail ? orErrorLaunchFailure : orSuccess; }));
    ASSERT_OK(launch(stream, [&] { ran = true; }));
  });
  ASSERT_OK(orGraphLaunch(exec, nullptr));
  EXPECT_EQ(orStreamSynchronize(nullptr), orErrorLaunchFailure);
  EXPECT_FALSE(ran);
  EXPECT_EQ(orGraphLaunch(exec, nullptr), orErrorLaunchFailure);
  EXPECT_OK(orDeviceReset());
  fail = false;
  EXPECT_OK(orGraphLaunch(exec, nullptr));
  EXPECT_OK(orStreamSynchronize(nullptr));
  EXPECT_TRUE(ran);
  EXPECT_OK(orGraphExecDestroy(exec));
}

}  // namespace
}  // namespace openreg_test
