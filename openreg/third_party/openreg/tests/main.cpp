// Starts the driver's tests with a small, known device. See docs/start/architecture.md.
#include <gtest/gtest.h>

#include <cstdlib>

// ThreadSanitizer lets every process that ends sleep for a second, in the hope of a
// last race. There is a process for each test.
extern "C" const char* __tsan_default_options() { return "atexit_sleep_ms=50"; }

int main(int argc, char** argv) {
  setenv("OPENREG_DEVICE_COUNT", "2", 0);
  setenv("OPENREG_DEVICE_MEMORY", "256M", 0);
  testing::InitGoogleTest(&argc, argv);
  // Tests of processes run in a fresh one, in which the driver has not started yet.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  return RUN_ALL_TESTS();
}
