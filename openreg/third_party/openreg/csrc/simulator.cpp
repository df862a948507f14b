// The simulator: delays and failures on purpose. See docs/runtime/errors.md.
#include "simulator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "stream.h"

namespace openreg::driver {

std::atomic<bool> simulatorActive = false;

namespace {

struct KernelFailure {
  std::optional<std::string> name;  // none: any kernel
  int after;
};

// Never destroyed: threads may wait here while the process exits.
struct State {
  std::mutex mutex;  // guards all below, and writing simulatorActive
  std::condition_variable changed;
  std::vector<Ref<Stream>> holds;  // a stream once for each hold
  SimDelay delay;
  std::optional<KernelFailure> kernelFailure;
  int allocationFailures = 0;

  void update() {
    simulatorActive = !holds.empty() || delay.microseconds > 0 || kernelFailure ||
                      allocationFailures > 0;
    changed.notify_all();
  }
  auto findHold(const Stream& stream) {
    return std::find_if(holds.begin(), holds.end(),
                        [&](auto& hold) { return hold.get() == &stream; });
  }
};
State& state = *new State;

// A number that looks random, the same for the same task in every run (SplitMix64).
uint64_t scramble(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

std::chrono::microseconds delayOf(Stream& stream, uint64_t position, SimDelay delay) {
  uint64_t time = delay.microseconds;
  if (delay.seed != 0) {
    uint64_t number = scramble(delay.seed);
    number = scramble(number ^ static_cast<uint64_t>(stream.device().index()));
    number = scramble(number ^ static_cast<uint64_t>(stream.number()));
    time = scramble(number ^ position) % (time + 1);
  }
  return std::chrono::microseconds(time);
}

}  // namespace

void beforeTask(Stream& stream, uint64_t position) {
  auto exiting = [] { return processState() == ProcessState::kExiting; };
  std::unique_lock lock(state.mutex);
  if (state.delay.microseconds > 0) {
    auto end =
        std::chrono::steady_clock::now() + delayOf(stream, position, state.delay);
    state.changed.wait_until(
        lock, end, [&] { return state.delay.microseconds == 0 || exiting(); });
  }
  state.changed.wait(
      lock, [&] { return state.findHold(stream) == state.holds.end() || exiting(); });
}

bool takeKernelFailure(const char* name) {
  std::lock_guard lock(state.mutex);
  auto& failure = state.kernelFailure;
  if (!failure || (failure->name && *failure->name != name)) return false;
  if (failure->after-- > 0) return false;
  failure.reset();
  state.update();
  return true;
}

bool takeAllocationFailure() {
  std::lock_guard lock(state.mutex);
  if (state.allocationFailures == 0) return false;
  --state.allocationFailures;
  state.update();
  return true;
}

orError_t failOnPurpose(void*) {
  orKernelFault("requested by orSimFailKernel()");
  return orErrorLaunchFailure;
}

bool anyHeld() {
  std::lock_guard lock(state.mutex);
  return !state.holds.empty();
}

void releaseHolds(Stream& stream) {
  if (!simulatorActs()) return;
  std::vector<Ref<Stream>> released;  // destroyed after the lock: may end the stream
  std::lock_guard lock(state.mutex);
  for (;;) {
    auto hold = state.findHold(stream);
    if (hold == state.holds.end()) break;
    released.push_back(std::move(*hold));
    state.holds.erase(hold);
  }
  state.update();
}

void wakeHeld() {
  std::lock_guard lock(state.mutex);
  state.changed.notify_all();
}

void resetSimulator() {
  std::vector<Ref<Stream>> released;
  std::lock_guard lock(state.mutex);
  released.swap(state.holds);
  state.delay = config.simDelay;
  state.kernelFailure.reset();
  state.allocationFailures = 0;
  state.update();
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orSimHold(orStream_t stream) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    std::lock_guard lock(state.mutex);
    state.holds.push_back(std::move(target));
    state.update();
    return orSuccess;
  });
}

orError_t orSimRelease(orStream_t stream) {
  return call(__func__, [&]() -> orError_t {
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    std::lock_guard lock(state.mutex);
    auto hold = state.findHold(*target);
    if (hold == state.holds.end()) {
      return fail(
          orErrorInvalidValue,
          "stream %d of device %d is not held: call orSimHold() once for each release",
          target->number(), target->device().index());
    }
    state.holds.erase(hold);  // not the last owner: `target` is one
    state.update();
    return orSuccess;
  });
}

orError_t orSimSetDelay(unsigned int microseconds, unsigned int seed) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (orError_t error = loadConfig()) return error;
    if (microseconds > kMaxSimDelay) {
      return fail(orErrorInvalidValue, "microseconds is %u: at most %u are allowed",
                  microseconds, kMaxSimDelay);
    }
    std::lock_guard lock(state.mutex);
    state.delay = {microseconds, seed};
    state.update();
    return orSuccess;
  });
}

orError_t orSimGetDelay(unsigned int* microseconds, unsigned int* seed) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (microseconds == nullptr || seed == nullptr) {
      return fail(orErrorInvalidValue, "%s is null",
                  microseconds == nullptr ? "microseconds" : "seed");
    }
    if (orError_t error = loadConfig()) return error;
    std::lock_guard lock(state.mutex);
    *microseconds = state.delay.microseconds;
    *seed = state.delay.seed;
    return orSuccess;
  });
}

orError_t orSimFailKernel(const char* name, int after) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (orError_t error = loadConfig()) return error;
    if (after < 0) return fail(orErrorInvalidValue, "after is %d: below 0", after);
    KernelFailure failure{std::nullopt, after};
    if (name != nullptr) failure.name = name;
    std::lock_guard lock(state.mutex);
    state.kernelFailure = std::move(failure);
    state.update();
    return orSuccess;
  });
}

orError_t orSimFailAllocation(int count) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (orError_t error = loadConfig()) return error;
    if (count < 0) return fail(orErrorInvalidValue, "count is %d: below 0", count);
    std::lock_guard lock(state.mutex);
    state.allocationFailures = count;
    state.update();
    return orSuccess;
  });
}

orError_t orSimReset(void) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (orError_t error = loadConfig()) return error;
    resetSimulator();
    return orSuccess;
  });
}
