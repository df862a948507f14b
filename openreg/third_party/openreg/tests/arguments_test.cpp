// Every function of openreg.h: bad arguments, calls inside tasks, calls in a forked
// child. See docs/start/architecture.md.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "openreg_activity.h"
#include "openreg_graph.h"
#include "openreg_ipc.h"
#include "support.h"

namespace openreg_test {
namespace {

struct Case {
  std::string function;
  orError_t expected;
  std::function<orError_t()> call;
};

template <class Handle>
std::vector<Handle> deadHandles() {
  static int object = 0;
  return {reinterpret_cast<Handle>(0x10), reinterpret_cast<Handle>(&object),
          reinterpret_cast<Handle>(~uintptr_t{0}),
          reinterpret_cast<Handle>(uintptr_t{1} << 62)};
}

orError_t nothing(void*) { return orSuccess; }
void nothingToo(void*) {}

// Calls with bad arguments, at least one for each function that can be called wrongly.
std::vector<Case> badCalls() {
  static int number = 0;
  static unsigned int delay = 0;
  static size_t size = 0;
  static float ms = 0;
  static uint64_t id = 0;
  static void* ptr = nullptr;
  static orGraph_t graph = nullptr;
  static orGraphExec_t exec = nullptr;
  static orDeviceProp prop;
  static char host[16];
  constexpr orError_t value = orErrorInvalidValue;
  constexpr orError_t handle = orErrorInvalidResourceHandle;
  std::vector<Case> cases = {
      {"orGetDeviceCount", value, [] { return orGetDeviceCount(nullptr); }},
      {"orGetDevice", value, [] { return orGetDevice(nullptr); }},
      {"orSetDevice", orErrorInvalidDevice, [] { return orSetDevice(2); }},
      {"orSetDevice", orErrorInvalidDevice, [] { return orSetDevice(-1); }},
      {"orGetDeviceProperties", value,
       [] { return orGetDeviceProperties(nullptr, 0); }},
      {"orGetDeviceProperties", orErrorInvalidDevice,
       [] { return orGetDeviceProperties(&prop, 2); }},
      {"orMalloc", value, [] { return orMalloc(nullptr, 16); }},
      {"orMalloc", value, [] { return orMalloc(&ptr, 0); }},
      {"orFree", orErrorInvalidDevicePointer, [] { return orFree(host); }},
      {"orMallocHost", value, [] { return orMallocHost(nullptr, 16); }},
      {"orMallocHost", value, [] { return orMallocHost(&ptr, 0); }},
      {"orFreeHost", value, [] { return orFreeHost(host); }},
      {"orMemGetInfo", value, [] { return orMemGetInfo(nullptr, &size); }},
      {"orMemGetInfo", value, [] { return orMemGetInfo(&size, nullptr); }},
      {"orPointerGetAttributes", value,
       [] { return orPointerGetAttributes(nullptr, host); }},
      {"orActivityStart", value,
       [] { return orActivityStart(nullptr, nullptr, nullptr); }},
      {"orActivityStop", value, [] { return orActivityStop(nullptr); }},
      {"orActivityStop", value, [] { return orActivityStop(&size); }},
      {"orIpcGetMemHandle", value, [] { return orIpcGetMemHandle(nullptr, nullptr); }},
      {"orIpcGetMemHandle", orErrorInvalidDevicePointer,
       [] {
         orIpcMemHandle_t exported;
         return orIpcGetMemHandle(&exported, host);
       }},
      {"orIpcOpenMemHandle", value, [] { return orIpcOpenMemHandle(nullptr, {}); }},
      {"orIpcOpenMemHandle", handle, [] { return orIpcOpenMemHandle(&ptr, {}); }},
      {"orIpcCloseMemHandle", orErrorInvalidDevicePointer,
       [] { return orIpcCloseMemHandle(nullptr); }},
      {"orIpcCloseMemHandle", orErrorInvalidDevicePointer,
       [] { return orIpcCloseMemHandle(host); }},
      {"orMemcpy", value, [] { return orMemcpy(nullptr, host, 4, orMemcpyDefault); }},
      {"orMemcpy", value, [] { return orMemcpy(host, nullptr, 4, orMemcpyDefault); }},
      {"orMemcpy", value, [] { return orMemcpy(host, host, 4, orMemcpyKind(5)); }},
      {"orMemcpyAsync", value,
       [] { return orMemcpyAsync(nullptr, host, 4, orMemcpyDefault, nullptr); }},
      {"orMemset", value, [] { return orMemset(nullptr, 0, 4); }},
      {"orMemsetAsync", value, [] { return orMemsetAsync(nullptr, 0, 4, nullptr); }},
      {"orStreamCreate", value, [] { return orStreamCreate(nullptr); }},
      {"orStreamCreateWithPriority", value,
       [] { return orStreamCreateWithPriority(nullptr, 0); }},
      {"orDeviceGetStreamPriorityRange", value,
       [] { return orDeviceGetStreamPriorityRange(nullptr, &number); }},
      {"orDeviceGetStreamPriorityRange", value,
       [] { return orDeviceGetStreamPriorityRange(&number, nullptr); }},
      {"orStreamDestroy", handle, [] { return orStreamDestroy(nullptr); }},
      {"orStreamGetPriority", value,
       [] { return orStreamGetPriority(nullptr, nullptr); }},
      {"orStreamGetDevice", value, [] { return orStreamGetDevice(nullptr, nullptr); }},
      {"orEventCreate", value, [] { return orEventCreate(nullptr); }},
      {"orEventCreateWithFlags", value,
       [] { return orEventCreateWithFlags(nullptr, orEventDefault); }},
      {"orEventCreateWithFlags", value,
       [] {
         orEvent_t event = nullptr;
         return orEventCreateWithFlags(&event, 5);
       }},
      {"orEventDestroy", handle, [] { return orEventDestroy(nullptr); }},
      {"orEventRecord", handle, [] { return orEventRecord(nullptr, nullptr); }},
      {"orStreamWaitEvent", handle, [] { return orStreamWaitEvent(nullptr, nullptr); }},
      {"orEventQuery", handle, [] { return orEventQuery(nullptr); }},
      {"orEventSynchronize", handle, [] { return orEventSynchronize(nullptr); }},
      {"orEventElapsedTime", value,
       [] { return orEventElapsedTime(nullptr, nullptr, nullptr); }},
      {"orEventElapsedTime", handle,
       [] { return orEventElapsedTime(&ms, nullptr, nullptr); }},
      {"orLaunchKernel", value,
       [] { return orLaunchKernel(nullptr, nothing, nullptr, nullptr, nullptr); }},
      {"orLaunchKernel", value,
       [] { return orLaunchKernel("none", nullptr, nullptr, nullptr, nullptr); }},
      {"orLaunchHostFunc", value,
       [] { return orLaunchHostFunc(nullptr, nullptr, nullptr); }},
      {"orStreamBeginCapture", value,
       [] { return orStreamBeginCapture(nullptr, orStreamCaptureMode(-1)); }},
      {"orThreadExchangeStreamCaptureMode", value,
       [] { return orThreadExchangeStreamCaptureMode(nullptr); }},
      {"orStreamEndCapture", value,
       [] { return orStreamEndCapture(nullptr, nullptr); }},
      {"orStreamEndCapture", value, [] { return orStreamEndCapture(nullptr, &graph); }},
      {"orStreamIsCapturing", value,
       [] { return orStreamIsCapturing(nullptr, nullptr); }},
      {"orStreamGetCaptureInfo", value,
       [] { return orStreamGetCaptureInfo(nullptr, nullptr, &id); }},
      {"orStreamGetCaptureInfo", value,
       [] { return orStreamGetCaptureInfo(nullptr, &number, nullptr); }},
      {"orGraphDebugDotPrint", value,
       [] { return orGraphDebugDotPrint(nullptr, nullptr); }},
      {"orGraphDebugDotPrint", handle,
       [] { return orGraphDebugDotPrint(nullptr, "graph.dot"); }},
      {"orGraphGetNodeCount", value,
       [] { return orGraphGetNodeCount(nullptr, nullptr); }},
      {"orGraphGetNodeCount", handle,
       [] { return orGraphGetNodeCount(nullptr, &size); }},
      {"orGraphInstantiate", value,
       [] { return orGraphInstantiate(nullptr, nullptr); }},
      {"orGraphInstantiate", handle, [] { return orGraphInstantiate(&exec, nullptr); }},
      {"orGraphLaunch", handle, [] { return orGraphLaunch(nullptr, nullptr); }},
      {"orGraphDestroy", handle, [] { return orGraphDestroy(nullptr); }},
      {"orGraphExecDestroy", handle, [] { return orGraphExecDestroy(nullptr); }},
      {"orSimRelease", value, [] { return orSimRelease(nullptr); }},
      {"orSimSetDelay", value, [] { return orSimSetDelay(10'000'001, 0); }},
      {"orSimGetDelay", value, [] { return orSimGetDelay(nullptr, &delay); }},
      {"orSimGetDelay", value, [] { return orSimGetDelay(&delay, nullptr); }},
      {"orSimFailKernel", value, [] { return orSimFailKernel("none", -1); }},
      {"orSimFailAllocation", value, [] { return orSimFailAllocation(-1); }},
  };
  auto add = [&](const char* function, std::function<orError_t()> call) {
    cases.push_back({function, handle, std::move(call)});
  };
  for (auto stream : deadHandles<orStream_t>()) {
    add("orMemcpyAsync",
        [=] { return orMemcpyAsync(host, host, 4, orMemcpyDefault, stream); });
    add("orMemsetAsync", [=] { return orMemsetAsync(host, 0, 4, stream); });
    add("orStreamDestroy", [=] { return orStreamDestroy(stream); });
    add("orStreamGetPriority", [=] { return orStreamGetPriority(stream, &number); });
    add("orStreamGetDevice", [=] { return orStreamGetDevice(stream, &number); });
    add("orSimHold", [=] { return orSimHold(stream); });
    add("orSimRelease", [=] { return orSimRelease(stream); });
    add("orStreamQuery", [=] { return orStreamQuery(stream); });
    add("orStreamSynchronize", [=] { return orStreamSynchronize(stream); });
    add("orStreamWaitEvent", [=] { return orStreamWaitEvent(stream, nullptr); });
    add("orLaunchKernel",
        [=] { return orLaunchKernel("none", nothing, nullptr, nullptr, stream); });
    add("orLaunchHostFunc",
        [=] { return orLaunchHostFunc(stream, nothingToo, nullptr); });
    add("orStreamBeginCapture",
        [=] { return orStreamBeginCapture(stream, orStreamCaptureModeGlobal); });
    add("orStreamEndCapture", [=] { return orStreamEndCapture(stream, &graph); });
    add("orStreamIsCapturing", [=] { return orStreamIsCapturing(stream, &number); });
    add("orStreamGetCaptureInfo",
        [=] { return orStreamGetCaptureInfo(stream, &number, &id); });
  }
  for (auto event : deadHandles<orEvent_t>()) {
    add("orEventDestroy", [=] { return orEventDestroy(event); });
    add("orEventRecord", [=] { return orEventRecord(event, nullptr); });
    add("orStreamWaitEvent", [=] { return orStreamWaitEvent(nullptr, event); });
    add("orEventQuery", [=] { return orEventQuery(event); });
    add("orEventSynchronize", [=] { return orEventSynchronize(event); });
    add("orEventElapsedTime", [=] { return orEventElapsedTime(&ms, event, event); });
  }
  for (auto dead : deadHandles<orGraph_t>()) {
    add("orGraphGetNodeCount", [=] { return orGraphGetNodeCount(dead, &size); });
    add("orGraphDebugDotPrint", [=] { return orGraphDebugDotPrint(dead, host); });
    add("orGraphInstantiate", [=] { return orGraphInstantiate(&exec, dead); });
    add("orGraphDestroy", [=] { return orGraphDestroy(dead); });
  }
  for (auto dead : deadHandles<orGraphExec_t>()) {
    add("orGraphLaunch", [=] { return orGraphLaunch(dead, nullptr); });
    add("orGraphExecDestroy", [=] { return orGraphExecDestroy(dead); });
  }
  return cases;
}

// Functions without arguments that could be bad.
std::vector<Case> otherCalls() {
  return {{"orInit", orSuccess, orInit},
          {"orDeviceSynchronize", orSuccess, orDeviceSynchronize},
          {"orDeviceReset", orSuccess, orDeviceReset},
          {"orSimReset", orSuccess, orSimReset}};
}

const std::set<std::string> kAllowedInTasks = {"orGetDevice", "orPointerGetAttributes"};

using ArgumentsTest = DriverTest;

TEST_F(ArgumentsTest, BadOnesGiveTheirErrorAndName) {
  for (auto& [function, expected, call] : badCalls()) {
    EXPECT_FAILS(call(), expected, function + "(): ");
  }
}

TEST_F(ArgumentsTest, HandlesOfAnotherKindAreRefused) {
  Stream stream;
  Event event;
  EXPECT_EQ(orStreamQuery(reinterpret_cast<orStream_t>(orEvent_t(event))),
            orErrorInvalidResourceHandle);
  EXPECT_EQ(orEventQuery(reinterpret_cast<orEvent_t>(orStream_t(stream))),
            orErrorInvalidResourceHandle);
  EXPECT_EQ(orGraphDestroy(reinterpret_cast<orGraph_t>(orStream_t(stream))),
            orErrorInvalidResourceHandle);
}

TEST_F(ArgumentsTest, TablesAboveNameEveryFunctionOfTheHeaders) {
  std::set<std::string> tested = {"orGetErrorName",   "orGetErrorString",
                                  "orGetErrorDetail", "orKernelAddress",
                                  "orKernelFault",    "orGetDriverState"};
  for (auto& call : badCalls()) tested.insert(call.function);
  for (auto& call : otherCalls()) tested.insert(call.function);
  // OPENREG_API type name(
  std::set<std::string> declared;
  for (const char* path : {OPENREG_HEADER, OPENREG_ACTIVITY_HEADER,
                           OPENREG_GRAPH_HEADER, OPENREG_IPC_HEADER}) {
    std::ifstream header(path);
    ASSERT_TRUE(header) << path;
    std::string text(std::istreambuf_iterator<char>(header), {});
    for (size_t at = 0; (at = text.find("OPENREG_API ", at)) != text.npos; ++at) {
      size_t end = text.find('(', at);
      size_t start = text.find_last_of(" *", end) + 1;
      std::string name = text.substr(start, end - start);
      if (name.starts_with("or")) declared.insert(name);
    }
  }
  EXPECT_EQ(tested, declared);
}

TEST_F(ArgumentsTest, EveryFunctionIsRefusedInsideTasks) {
  // Runs on any thread, so the results are checked afterwards.
  struct Result {
    std::string function;
    std::string where;
    orError_t error;
    std::string detail;
  };
  static std::vector<Result> results;
  static const char* where;
  auto callAll = [] {
    for (auto& calls : {badCalls(), otherCalls()}) {
      for (auto& [function, expected, call] : calls) {
        orError_t error = call();
        results.push_back({function, where, error, orGetErrorDetail()});
      }
    }
  };
  static void (*callAllIn)() = callAll;
  results.clear();
  where = "kernel";
  ASSERT_OK(launch(nullptr, callAll));
  ASSERT_OK(orStreamSynchronize(nullptr));
  where = "host callback";
  ASSERT_OK(orLaunchHostFunc(nullptr, [](void*) { callAllIn(); }, nullptr));
  ASSERT_OK(orStreamSynchronize(nullptr));
  ASSERT_OK(
      orLaunchKernel("empty", nothing, nullptr, [](void*) { callAllIn(); }, nullptr));
  ASSERT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(results.size(), 3 * (badCalls().size() + otherCalls().size()));
  for (auto& [function, place, error, detail] : results) {
    if (kAllowedInTasks.count(function)) {
      EXPECT_EQ(error, orErrorInvalidValue) << function;
      continue;
    }
    EXPECT_EQ(error, orErrorNotPermitted) << function << " in a " << place;
    EXPECT_EQ(detail.find(function + "(): called from inside a " + place), 0u)
        << detail;
  }
}

TEST_F(ArgumentsTest, EveryFunctionIsRefusedInAForkedChild) {
  ASSERT_OK(orDeviceSynchronize());  // the driver runs
  // Made before the fork: other threads may hold the locks of an allocator.
  std::vector<Case> calls = badCalls();
  for (auto& call : otherCalls()) calls.push_back(call);
  pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    for (auto& call : calls) wrong += call.call() != orErrorInitializationError;
    _exit(wrong);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "functions that did not refuse";
}

TEST_F(ArgumentsTest, ErrorCodesHaveNamesAndSentences) {
  EXPECT_STREQ(orGetErrorName(orErrorNotReady), "orErrorNotReady");
  EXPECT_STREQ(orGetErrorName(orSuccess), "orSuccess");
  std::set<std::string> sentences;
  for (int code : {0, 1, 2, 3, 17, 21, 100, 101, 400, 600, 700, 719, 800, 801, 900, 901,
                   904, 999}) {
    EXPECT_NE(std::string(orGetErrorName(orError_t(code))), "orErrorUnrecognized");
    sentences.insert(orGetErrorString(orError_t(code)));
  }
  EXPECT_EQ(sentences.size(), 18u);
  EXPECT_STREQ(orGetErrorName(orError_t(12345)), "orErrorUnrecognized");
}

TEST_F(ArgumentsTest, DetailBelongsToTheThreadAndStays) {
  EXPECT_FAILS(orSetDevice(7), orErrorInvalidDevice, "no device 7");
  std::string detail = orGetErrorDetail();
  EXPECT_OK(orDeviceSynchronize());
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  EXPECT_EQ(orStreamQuery(stream), orErrorNotReady);  // not an error
  gate.open();
  EXPECT_EQ(detail, orGetErrorDetail());
}

}  // namespace
}  // namespace openreg_test
