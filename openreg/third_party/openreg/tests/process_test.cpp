// Processes: environment, fork, exit, limits. See docs/start/architecture.md.
//
// Each test that needs a driver which has not started yet runs its statement in a death
// test: GoogleTest starts this program anew for it.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "support.h"

// Set in forked children that exit normally. LeakSanitizer, where it is built in, asks:
// its check at exit needs a lock that a thread may have held when the process was
// forked.
static bool forkedChild = false;
extern "C" int __lsan_is_turned_off() { return forkedChild; }

namespace openreg_test {
namespace {

// Sets a variable for the test and the process it starts.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv(name, value, 1);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  bool had_ = false;
  std::string old_;
};

// Ends a child process: with 0 when `good`, else with the detail on stderr.
[[noreturn]] void finish(bool good) {
  if (!good) std::fprintf(stderr, "detail: %s\n", orGetErrorDetail());
  std::fflush(stderr);
  _exit(good ? 0 : 1);
}

int childStatus(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool useDevice() {
  void* ptr = nullptr;
  bool ran = false;
  return orMalloc(&ptr, 64) == orSuccess && orMemset(ptr, 1, 64) == orSuccess &&
         launch(nullptr, [&] { ran = true; }) == orSuccess &&
         orDeviceSynchronize() == orSuccess && orFree(ptr) == orSuccess && ran;
}

TEST(ProcessDeathTest, BadEnvironmentIsExplained) {
  const std::pair<const char*, const char*> cases[] = {
      {"OPENREG_DEVICE_COUNT", "two"},
      {"OPENREG_DEVICE_COUNT", "-1"},
      {"OPENREG_DEVICE_COUNT", "65"},
      {"OPENREG_DEVICE_COUNT", ""},
      {"OPENREG_DEVICE_COUNT", "2K"},
      {"OPENREG_DEVICE_MEMORY", "8GB"},
      {"OPENREG_DEVICE_MEMORY", "1.5G"},
      {"OPENREG_DEVICE_MEMORY", "0"},
      {"OPENREG_DEVICE_MEMORY", "4095"},
      {"OPENREG_DEVICE_MEMORY", "99999999999999999999"},
      {"OPENREG_DEVICE_MEMORY", "G"},
      {"OPENREG_DEVICE_MEMORY", "17179869184G"},
      {"OPENREG_STEAL", "yes"},
      {"OPENREG_LAUNCH_BLOCKING", "2"},
  };
  for (auto [name, value] : cases) {
    Variable variable(name, value);
    EXPECT_EXIT(
        {
          int count = -7;
          void* ptr = nullptr;
          bool good = orGetDeviceCount(&count) == orErrorInitializationError &&
                      orMalloc(&ptr, 1) == orErrorInitializationError && count == -7;
          std::fprintf(stderr, "%s\n", orGetErrorDetail());
          finish(good);
        },
        success(), std::string("orMalloc\\(\\): ") + name + "='" + value + "' is not");
  }
}

TEST(ProcessDeathTest, EnvironmentSetsCountAndMemory) {
  const std::pair<const char*, size_t> cases[] = {{"1048576", size_t{1} << 20},
                                                  {"3072K", size_t{3} << 20},
                                                  {"32m", size_t{32} << 20},
                                                  {"1G", size_t{1} << 30},
                                                  {"1049000", size_t{1} << 20}};
  Variable count("OPENREG_DEVICE_COUNT", "5");
  for (auto [text, bytes] : cases) {
    Variable memory("OPENREG_DEVICE_MEMORY", text);
    EXPECT_EXIT(
        {
          int devices = 0;
          size_t free = 0;
          size_t total = 0;
          orDeviceProp prop;
          finish(orGetDeviceCount(&devices) == orSuccess && devices == 5 &&
                 orGetDeviceProperties(&prop, 4) == orSuccess &&
                 prop.totalGlobalMem == bytes && orSetDevice(4) == orSuccess &&
                 orMemGetInfo(&free, &total) == orSuccess && free == bytes &&
                 total == bytes && useDevice() &&
                 orSetDevice(5) == orErrorInvalidDevice);
        },
        success(), "");
  }
}

TEST(ProcessDeathTest, ProcessWithoutDevices) {
  Variable count("OPENREG_DEVICE_COUNT", "0");
  EXPECT_EXIT(
      {
        int devices = 7;
        void* ptr = nullptr;
        finish(orGetDeviceCount(&devices) == orSuccess && devices == 0 &&
               orGetDevice(&devices) == orErrorNoDevice &&
               orSetDevice(0) == orErrorNoDevice &&
               orMalloc(&ptr, 1) == orErrorNoDevice &&
               orDeviceSynchronize() == orErrorNoDevice);
      },
      success(), "");
}

TEST(ProcessDeathTest, LaunchBlockingMakesEachLaunchWait) {
  Variable blocking("OPENREG_LAUNCH_BLOCKING", "1");
  EXPECT_EXIT(
      {
        bool good = true;
        for (int i = 0; i < 100; ++i) {
          std::atomic<bool> ran = false;
          good = good && launch(nullptr, [&] { ran = true; }) == orSuccess && ran;
        }
        // The failing launch has taken its arguments: the next call shows it.
        good = good &&
               launchBody(nullptr, [] { return orErrorLaunchFailure; }) == orSuccess;
        good = good && launch(nullptr, [] {}) == orErrorLaunchFailure;
        finish(good);
      },
      success(), "");
}

// Limits the address space to what is in use now plus `more`.
void limitAddressSpace(size_t more) {
  size_t limit = statusBytes("VmSize:") + more;
  rlimit limits{limit, limit};
  if (setrlimit(RLIMIT_AS, &limits) != 0) _exit(2);
}

TEST(ProcessDeathTest, LimitedAddressSpaceIsExplained) {
  Variable memory("OPENREG_DEVICE_MEMORY", "8G");
  EXPECT_EXIT(
      {
        limitAddressSpace(size_t{1} << 30);
        void* ptr = nullptr;
        int devices = 0;
        bool good = orGetDeviceCount(&devices) == orSuccess &&
                    orMalloc(&ptr, 1) == orErrorInitializationError &&
                    orMalloc(&ptr, 1) == orErrorInitializationError;
        std::fprintf(stderr, "%s\n", orGetErrorDetail());
        finish(good);
      },
      success(), "cannot reserve.*Lower OPENREG_DEVICE_MEMORY");
}

TEST(ProcessDeathTest, RefusedThreadIsExplained) {
  EXPECT_EXIT(
      {
        orStream_t stream = nullptr;
        bool good = useDevice() && orStreamCreate(&stream) == orSuccess;
        limitAddressSpace(4 << 20);  // less than the stack of a thread
        static int destroyed = 0;
        auto kernel = [](void*) { return orSuccess; };
        good = good && orLaunchKernel(
                           "refused", kernel, nullptr, [](void*) { ++destroyed; },
                           stream) == orErrorInitializationError;
        std::fprintf(stderr, "%s\n", orGetErrorDetail());
        finish(good && destroyed == 0 && useDevice());
      },
      success(), "cannot start a thread");
}

TEST(ProcessDeathTest, AskingDoesNotStartTheDriver) {
  EXPECT_EXIT(
      {
        int value = 0;
        int greatest = 0;
        orDeviceProp prop;
        orPointerAttributes attributes;
        bool good = orGetDeviceCount(&value) == orSuccess &&
                    orGetDevice(&value) == orSuccess && orSetDevice(1) == orSuccess &&
                    orGetDeviceProperties(&prop, 0) == orSuccess &&
                    orDeviceGetStreamPriorityRange(&value, &greatest) == orSuccess &&
                    orPointerGetAttributes(&attributes, &value) == orSuccess &&
                    attributes.type == orMemoryTypeUnregistered;
        // Hence a child may use the device, and so may the parent.
        pid_t child = fork();
        if (child == 0) finish(useDevice());
        good = good && childStatus(child) == 0;
        finish(good && useDevice());
      },
      success(), "");
}

TEST(ProcessTest, ForkedChildIsToldAndParentGoesOn) {
  Stream stream;
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  gate.awaitArrival();
  pid_t child = fork();
  if (child == 0) {
    int count = 0;
    bool good = orGetDeviceCount(&count) == orErrorInitializationError &&
                orDeviceSynchronize() == orErrorInitializationError &&
                std::strstr(orGetErrorDetail(), "'spawn'") != nullptr;
    // Even in an orderly exit, nothing may wait for threads that are not there.
    if (good) std::quick_exit(0);
    _exit(1);
  }
  EXPECT_EQ(childStatus(child), 0);
  gate.open();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_TRUE(useDevice());
}

TEST(ProcessDeathTest, StateTellsWhatAProcessCanDo) {
  EXPECT_EXIT(
      {
        bool good = orGetDriverState() == orDriverFresh && orInit() == orSuccess &&
                    orGetDriverState() == orDriverRunning && orInit() == orSuccess;
        pid_t child = fork();
        if (child == 0) {
          finish(orGetDriverState() == orDriverForked &&
                 orInit() == orErrorInitializationError);
        }
        good = good && childStatus(child) == 0;
        finish(good);
      },
      success(), "");
}

TEST(ProcessDeathTest, ForkedChildExitsNormally) {
  EXPECT_EXIT(
      {
        bool good = useDevice();
        pid_t child = fork();
        if (child == 0) {
          forkedChild = true;
          std::exit(3);
        }
        finish(good && childStatus(child) == 3);
      },
      success(), "");
}

std::atomic<bool> tornDown = false;

// Registered before the driver starts, so that it runs after the driver's own handler.
void tearDown() {
  tornDown = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // time to do wrong
}

TEST(ProcessDeathTest, NoKernelRunsWhileTheProcessIsTornDown) {
  EXPECT_EXIT(
      {
        std::atexit(tearDown);
        orStream_t streams[4];
        for (auto& stream : streams) {
          if (orStreamCreate(&stream) != orSuccess) _exit(4);
        }
        for (int i = 0; i < 2000; ++i) {
          auto body = [] {
            for (int j = 0; j < 100; ++j) {
              std::this_thread::yield();
              if (tornDown) _exit(5);
            }
          };
          if (launch(streams[i % 4], body) != orSuccess) _exit(6);
        }
        std::exit(0);
      },
      success(), "");
}

TEST(ProcessDeathTest, ExitWithPendingWorkDoesNotHang) {
  EXPECT_EXIT(
      {
        static Gate* gate = new Gate;  // never opened
        orStream_t streams[3];
        for (auto& stream : streams) {
          if (orStreamCreate(&stream) != orSuccess) _exit(4);
        }
        orEvent_t event = nullptr;
        bool good = launchGate(streams[1], *gate) == orSuccess &&
                    orEventCreate(&event) == orSuccess &&
                    orEventRecord(event, streams[1]) == orSuccess &&
                    orStreamWaitEvent(streams[0], event) == orSuccess &&
                    orStreamWaitEvent(streams[2], event) == orSuccess;
        gate->awaitArrival();
        // A thread of the program that waits must not keep the process alive either.
        std::thread([&] { orStreamSynchronize(streams[0]); }).detach();
        std::exit(good ? 0 : 1);
      },
      success(), "");
}

TEST(ProcessDeathTest, ExitInsideAKernelDoesNotHang) {
  EXPECT_EXIT(
      {
        if (launch(nullptr, [] { std::exit(9); }) != orSuccess) _exit(4);
        // Never returns, or is refused because the kernel was quicker.
        if (orDeviceSynchronize() == orSuccess) _exit(5);
        for (;;) pause();
      },
      testing::ExitedWithCode(9), "");
}

void useAfterExit() {
  void* ptr = nullptr;
  orError_t error = orMalloc(&ptr, 1);
  std::fprintf(stderr, "%s\n", orGetErrorDetail());
  if (error != orErrorInitializationError) _exit(5);
}

TEST(ProcessDeathTest, CallsWhileTheProcessExitsAreRefused) {
  EXPECT_EXIT(
      {
        std::atexit(useAfterExit);
        if (!useDevice()) _exit(4);
        std::exit(0);
      },
      success(), "the process is exiting");
}

}  // namespace
}  // namespace openreg_test
