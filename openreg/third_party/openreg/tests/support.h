// What the driver's tests share. See docs/start/architecture.md.
//
// No test measures time or sleeps to get an order: kernels that must not end yet wait
// at a Gate, which the test opens.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "openreg.h"

namespace openreg_test {

// "orErrorNotReady", and for errors the detail too: readable failures.
inline std::string describe(orError_t error) {
  std::string text = orGetErrorName(error);
  if (error != orSuccess && error != orErrorNotReady) {
    text += ": ";
    text += orGetErrorDetail();
  }
  return text;
}

// What /proc/self/status has behind `key`, such as "VmSize:", in bytes.
inline size_t statusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != key) {
  }
  size_t kibibytes = 0;
  status >> kibibytes;
  return kibibytes << 10;
}

// For EXPECT_EXIT: the process ended well.
inline testing::ExitedWithCode success() { return testing::ExitedWithCode(0); }

#define EXPECT_OK(call)                                           \
  do {                                                            \
    orError_t error_ = (call);                                    \
    EXPECT_EQ(error_, orSuccess)                                  \
        << #call << " gave " << ::openreg_test::describe(error_); \
  } while (false)

#define ASSERT_OK(call)                                           \
  do {                                                            \
    orError_t error_ = (call);                                    \
    ASSERT_EQ(error_, orSuccess)                                  \
        << #call << " gave " << ::openreg_test::describe(error_); \
  } while (false)

// The call fails with `code`, and the detail contains `words`.
#define EXPECT_FAILS(call, code, words)                                               \
  do {                                                                                \
    orError_t error_ = (call);                                                        \
    EXPECT_EQ(error_, code) << #call << " gave " << ::openreg_test::describe(error_); \
    EXPECT_NE(std::string(orGetErrorDetail()).find(words), std::string::npos)         \
        << #call << " should mention '" << words << "': " << orGetErrorDetail();      \
  } while (false)

// Kernels that pass a gate wait until it is opened. They share its state: a gate that
// goes is open for those who still stand there.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  ~Gate() { open(); }
  void open() {
    std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  // Returns when a kernel has arrived at the gate.
  void awaitArrival() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->arrived; });
  }
  // The function that a kernel calls to pass.
  std::function<void()> passage() {
    return [state = state_] {
      std::unique_lock lock(state->mutex);
      state->arrived = true;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->open; });
    };
  }
  void pass() { passage()(); }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool arrived = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

using Body = std::function<orError_t()>;

inline orError_t runBody(void* body) { return (*static_cast<Body*>(body))(); }
inline void deleteBody(void* body) { delete static_cast<Body*>(body); }

// Launches a callable that returns an orError_t.
inline orError_t launchBody(orStream_t stream, Body body, const char* name = "body") {
  auto* owned = new Body(std::move(body));
  orError_t error = orLaunchKernel(name, runBody, owned, deleteBody, stream);
  if (error != orSuccess) delete owned;
  return error;
}

// Launches a callable without a result.
template <class Function>
orError_t launch(orStream_t stream, Function function) {
  return launchBody(stream, [function = std::move(function)] {
    function();
    return orSuccess;
  });
}

inline orError_t launchGate(orStream_t stream, Gate& gate) {
  return launch(stream, gate.passage());
}

// Owners, so that a failing test leaves nothing behind.
class Stream {
 public:
  Stream() { EXPECT_OK(orStreamCreate(&handle_)); }
  ~Stream() { EXPECT_OK(orStreamDestroy(handle_)); }
  Stream(const Stream&) = delete;
  operator orStream_t() const { return handle_; }

 private:
  orStream_t handle_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned int flags = orEventDefault) {
    EXPECT_OK(orEventCreateWithFlags(&handle_, flags));
  }
  ~Event() { EXPECT_OK(orEventDestroy(handle_)); }
  Event(const Event&) = delete;
  operator orEvent_t() const { return handle_; }

 private:
  orEvent_t handle_ = nullptr;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t size) { EXPECT_OK(orMalloc(&ptr_, size)); }
  ~DeviceMemory() { EXPECT_OK(orFree(ptr_)); }
  DeviceMemory(const DeviceMemory&) = delete;
  char* get() const { return static_cast<char*>(ptr_); }

 private:
  void* ptr_ = nullptr;
};

class PinnedMemory {
 public:
  explicit PinnedMemory(size_t size) { EXPECT_OK(orMallocHost(&ptr_, size)); }
  ~PinnedMemory() { EXPECT_OK(orFreeHost(ptr_)); }
  PinnedMemory(const PinnedMemory&) = delete;
  char* get() const { return static_cast<char*>(ptr_); }

 private:
  void* ptr_ = nullptr;
};

// Each test starts with device 0 and leaves both devices idle, sound and empty.
class DriverTest : public testing::Test {
 protected:
  static constexpr int kDevices = 2;

  void SetUp() override {
    for (int i = 0; i < kDevices; ++i) freeBefore_[i] = freeBytes(i);
  }
  void TearDown() override {
    for (int i = 0; i < kDevices; ++i) {
      EXPECT_OK(orSetDevice(i));
      EXPECT_OK(orDeviceSynchronize());
      EXPECT_EQ(freeBytes(i), freeBefore_[i]) << "device memory was left allocated";
    }
    EXPECT_OK(orSetDevice(0));
  }
  static size_t freeBytes(int device) {
    int before = 0;
    EXPECT_OK(orGetDevice(&before));
    EXPECT_OK(orSetDevice(device));
    size_t free = 0;
    size_t total = 0;
    EXPECT_OK(orMemGetInfo(&free, &total));
    EXPECT_OK(orSetDevice(before));
    return free;
  }

 private:
  size_t freeBefore_[kDevices] = {};
};

}  // namespace openreg_test
