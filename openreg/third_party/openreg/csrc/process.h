// The process: settings, start, fork and exit. See docs/start/architecture.md.
#pragma once

#include <atomic>
#include <cstddef>

#include "openreg.h"

namespace openreg::driver {

class Device;

struct SimDelay {
  unsigned int microseconds = 0;  // before each task
  unsigned int seed = 0;          // 0: exactly that long
};
constexpr unsigned int kMaxSimDelay = 10'000'000;

struct Config {
  int deviceCount = 2;                    // OPENREG_DEVICE_COUNT
  size_t deviceMemory = size_t{8} << 30;  // OPENREG_DEVICE_MEMORY
  bool steal = true;                      // OPENREG_STEAL
  bool launchBlocking = false;            // OPENREG_LAUNCH_BLOCKING
  SimDelay simDelay;                      // OPENREG_SIM_DELAY
};
constexpr int kMaxDevices = 64;

// Reads the environment once. Fails when a variable is invalid.
orError_t loadConfig();
// Only after loadConfig() has succeeded.
extern Config config;

enum class ProcessState {
  kFresh,    // the driver has not been needed yet
  kRunning,  // there are devices
  kForked,   // this is a child of a process whose driver ran; worker threads did not
             // come along
  kExiting,  // the exit handler has stopped the streams
};
extern std::atomic<ProcessState> processStateNow;
inline ProcessState processState() {
  return processStateNow.load(std::memory_order_acquire);
}

// Called by call() unless the driver runs: fails in forked and exiting processes, and
// starts the driver if `start` is set.
orError_t enterProcess(bool start);

// Device `index` of the running driver.
Device& deviceAt(int index);
Device& currentDevice();

}  // namespace openreg::driver
