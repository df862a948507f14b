// Start, choice of devices, fork and exit; see docs/opencl/driver.md.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "oclrt_kernel.h"
#include "support.h"

namespace openreg_test {
namespace {

// Ends the process, and shows the detail of a failure.
[[noreturn]] void finish(orError_t error) {
  if (error != orSuccess) std::fprintf(stderr, "%s\n", describe(error).c_str());
  std::exit(error == orSuccess ? 0 : 1);
}

[[noreturn]] void finish(bool good) { std::exit(good ? 0 : 1); }

testing::ExitedWithCode failure() { return testing::ExitedWithCode(1); }

[[noreturn]] void startWith(const char* name, const char* text) {
  setenv(name, text, 1);
  finish(orInit());
}

TEST(OpenClProcessTest, CountingAndPropertiesStartNothing) {
  EXPECT_EXIT(
      {
        int count = 0;
        orDeviceProp prop = {};
        const bool good = orGetDeviceCount(&count) == orSuccess && count == 2 &&
                          orSetDevice(1) == orSuccess &&
                          orGetDeviceProperties(&prop, 1) == orSuccess &&
                          prop.totalGlobalMem > 0;
        finish(good && orGetDriverState() == orDriverFresh);
      },
      success(), "");
}

TEST(OpenClProcessTest, ChildMayUseADeviceThatWasOnlyCounted) {
  EXPECT_EXIT(
      {
        int count = 0;
        orGetDeviceCount(&count);
        const pid_t child = fork();
        if (child == 0) finish(orInit());
        int status = 0;
        waitpid(child, &status, 0);
        finish(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      },
      success(), "");
}

TEST(OpenClProcessTest, ChildOfAUserIsRefusedAtOnce) {
  EXPECT_EXIT(
      {
        orInit();
        const pid_t child = fork();
        if (child == 0) {
          void* ptr = nullptr;
          _exit(orGetDriverState() == orDriverForked &&
                        orMalloc(&ptr, 1) == orErrorInitializationError
                    ? 0
                    : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        finish(WIFEXITED(status) && WEXITSTATUS(status) == 0 && orInit() == orSuccess);
      },
      success(), "");
}

TEST(OpenClProcessTest, ExitWithHeldWorkEnds) {
  EXPECT_EXIT(
      {
        void* ptr = nullptr;
        orMalloc(&ptr, 64);
        orClHold(nullptr);
        orMemsetAsync(ptr, 1, 64, nullptr);
        orLaunchHostFunc(nullptr, [](void*) {}, nullptr);
        finish(true);
      },
      success(), "");
}

TEST(OpenClProcessTest, CallsOfStaticDestructorsAreRefused) {
  EXPECT_EXIT(
      {
        static void* ptr = nullptr;
        std::atexit([] {  // runs after the driver has ended
          if (orFree(ptr) != orErrorInitializationError ||
              orGetDriverState() != orDriverExiting) {
            _exit(1);
          }
        });
        orMalloc(&ptr, 64);
        finish(true);
      },
      success(), "");
}

TEST(OpenClProcessTest, PlatformIsChosenByAPartOfItsName) {
  EXPECT_EXIT(startWith("OCLRT_PLATFORM", "portable COMPUTING"), success(), "");
  EXPECT_EXIT(startWith("OCLRT_PLATFORM", "no such"), failure(),
              "OpenCL platform with 'no such' in its name.*Portable");
}

TEST(OpenClProcessTest, WholeDevicesAreNotSplit) {
  EXPECT_EXIT(
      {
        setenv("OCLRT_SUB_DEVICES", "0", 1);
        unsetenv("OPENREG_DEVICE_COUNT");
        int count = 0;
        orGetDeviceCount(&count);
        orInit();
        orDeviceProp prop = {};
        orGetDeviceProperties(&prop, 0);
        finish(count == 1 && prop.multiProcessorCount >= 1);
      },
      success(), "");
  EXPECT_EXIT(startWith("OCLRT_SUB_DEVICES", "2"), failure(), "is not 0 or 1");
}

TEST(OpenClProcessTest, MoreDevicesThanThereAreFailTheStart) {
  EXPECT_EXIT(startWith("OPENREG_DEVICE_COUNT", "64"), failure(),
              "Set OPENREG_DEVICE_COUNT");
  EXPECT_EXIT(
      {
        setenv("OPENREG_DEVICE_COUNT", "3", 1);
        startWith("OCLRT_SUB_DEVICES", "0");
      },
      failure(), "has 1 devices, but OPENREG_DEVICE_COUNT is 3");
}

TEST(OpenClProcessTest, WithoutAnImplementationThereAreNoDevices) {
  EXPECT_EXIT(
      {
        setenv("OCL_ICD_VENDORS", "/no/such/folder", 1);
        int count = -1;
        finish(orGetDeviceCount(&count) == orSuccess && count == 0 &&
               orInit() == orErrorNoDevice);
      },
      success(), "");
}

}  // namespace
}  // namespace openreg_test
