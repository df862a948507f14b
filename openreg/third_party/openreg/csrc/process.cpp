// The process: settings, start, fork and exit. See docs/start/architecture.md.
#include "process.h"

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "call.h"
#include "device.h"
#include "memory.h"
#include "simulator.h"

namespace openreg::driver {

Config config;
std::atomic<ProcessState> processStateNow = ProcessState::kFresh;

namespace {

// Never destroyed: other libraries may call the driver while the process exits.
Device* devices[kMaxDevices];

// Reads a whole number with an optional suffix K, M or G (powers of 1024).
bool parseNumber(const char* text, bool suffixes, unsigned long long* value) {
  if (*text < '0' || *text > '9') return false;  // strtoull would take "-1" and " 1"
  errno = 0;
  char* end = nullptr;
  *value = std::strtoull(text, &end, 10);
  if (errno != 0) return false;
  int shift = 0;
  if (suffixes && *end != '\0') {
    const char* known = "KMG";
    const char* at = std::strchr(known, *end & ~0x20);  // either case
    if (at == nullptr || *at == '\0') return false;
    shift = 10 * static_cast<int>(at - known + 1);
    ++end;
  }
  if (*end != '\0' || *value > (~0ULL >> shift)) return false;
  *value <<= shift;
  return true;
}

// Reads one variable into `value`; true when it is unset, or set within [low, high].
template <class T>
bool readVariable(const char* name, unsigned long long low, unsigned long long high,
                  bool suffixes, const char* expected, T* value, std::string* problem) {
  const char* text = std::getenv(name);
  if (text == nullptr) return true;
  unsigned long long number = 0;
  if (parseNumber(text, suffixes, &number) && number >= low && number <= high) {
    *value = static_cast<T>(number);
    return true;
  }
  *problem = std::string(name) + "='" + text + "' is not " + expected +
             ". Correct the variable or unset it";
  return false;
}

// Reads OPENREG_SIM_DELAY: "microseconds" or "microseconds:seed".
bool readSimDelay(SimDelay* value, std::string* problem) {
  const char* text = std::getenv("OPENREG_SIM_DELAY");
  if (text == nullptr) return true;
  const std::string whole = text;
  const size_t colon = whole.find(':');
  const std::string seedText = colon == whole.npos ? "0" : whole.substr(colon + 1);
  unsigned long long microseconds = 0;
  unsigned long long seed = 0;
  if (parseNumber(whole.substr(0, colon).c_str(), false, &microseconds) &&
      parseNumber(seedText.c_str(), false, &seed) && microseconds <= kMaxSimDelay &&
      seed <= UINT_MAX) {
    *value = {static_cast<unsigned int>(microseconds), static_cast<unsigned int>(seed)};
    return true;
  }
  *problem = "OPENREG_SIM_DELAY='" + whole +
             "' is not a number of microseconds up to 10000000, or such a number, a "
             "colon and a seed. Correct the variable or unset it";
  return false;
}

// The error of the environment; empty if it is valid.
std::string readEnvironment() {
  std::string problem;
  readVariable("OPENREG_DEVICE_COUNT", 0, kMaxDevices, false, "a number from 0 to 64",
               &config.deviceCount, &problem) &&
      readVariable("OPENREG_DEVICE_MEMORY", 1ULL << 20, 1ULL << 40, true,
                   "a size from 1M to 1024G (bytes, or a number with suffix K, M or G)",
                   &config.deviceMemory, &problem) &&
      readVariable("OPENREG_STEAL", 0, 1, false, "0 or 1", &config.steal, &problem) &&
      readVariable("OPENREG_LAUNCH_BLOCKING", 0, 1, false, "0 or 1",
                   &config.launchBlocking, &problem) &&
      readSimDelay(&config.simDelay, &problem);
  config.deviceMemory = roundDownToPage(config.deviceMemory);
  if (problem.empty()) resetSimulator();
  return problem;
}

void onForkInChild() {
  if (processState() != ProcessState::kFresh) processStateNow = ProcessState::kForked;
}

// Kernels must not run while the libraries they live in are torn down. Takes the
// executor lock of every stream and keeps it: a running task may finish, no other
// starts. A task that never ends must not keep the process alive, hence the deadline.
void onExit() {
  if (processState() != ProcessState::kRunning) return;
  processStateNow = ProcessState::kExiting;
  if (thread.activity != Activity::kNone)
    return;  // exit() inside a task: its lock is ours
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  wakeHeld();
  for (int i = 0; i < config.deviceCount; ++i) devices[i]->wakeSleepers();
  for (int i = 0; i < config.deviceCount; ++i) devices[i]->halt(deadline);
}

orError_t startDriver() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (processState() == ProcessState::kRunning) return orSuccess;
  if (orError_t error = loadConfig()) return error;
  if (config.deviceCount == 0) {
    return fail(orErrorNoDevice,
                "OPENREG_DEVICE_COUNT is 0: there is no device to use");
  }
  if (orError_t error = reserveMemory()) return error;
  for (int i = 0; i < config.deviceCount; ++i) devices[i] = new Device(i);
  pthread_atfork(nullptr, nullptr, onForkInChild);
  std::atexit(onExit);
  processStateNow = ProcessState::kRunning;
  return orSuccess;
}

}  // namespace

orError_t loadConfig() {
  // Never destroyed: threads may call the driver while the process exits.
  static const auto& problem = *new std::string(readEnvironment());
  if (problem.empty()) return orSuccess;
  return fail(orErrorInitializationError, "%s", problem.c_str());
}

orError_t enterProcess(bool start) {
  switch (processState()) {
    case ProcessState::kFresh:
      return start ? startDriver() : orSuccess;
    case ProcessState::kRunning:
      return orSuccess;
    case ProcessState::kForked:
      return fail(
          orErrorInitializationError,
          "this process was forked from one that had already used the device. The "
          "driver's threads do not survive a fork: start child processes with the "
          "'spawn' method, or fork before the first use of the device");
    case ProcessState::kExiting:
      return fail(orErrorInitializationError,
                  "the process is exiting, and the device is shut down");
  }
  return orErrorUnknown;
}

Device& deviceAt(int index) { return *devices[index]; }

Device& currentDevice() { return *devices[thread.device]; }

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orInit(void) {
  return call(__func__, [] { return orSuccess; });  // call() has started the driver
}

orDriverState orGetDriverState(void) {
  switch (processState()) {
    case ProcessState::kFresh:
      return orDriverFresh;
    case ProcessState::kRunning:
      return orDriverRunning;
    case ProcessState::kForked:
      return orDriverForked;
    case ProcessState::kExiting:
      break;
  }
  return orDriverExiting;
}
