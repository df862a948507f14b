// A stream: a queue of tasks and the threads that run them. See
// docs/start/architecture.md.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "device.h"
#include "handle.h"
#include "openreg.h"
#include "task.h"

namespace openreg::driver {

struct Capture;

// Positions count the tasks of a stream: the first task has position 1. A position is
// done when the task there and all before it have finished.
class Stream {
 public:
  using Handle = orStream_t;
  static constexpr uint64_t kTag = 0x51;

  Stream(Device& device, int priority);
  ~Stream();

  Device& device() const { return device_; }
  int priority() const { return priority_; }
  int number() const { return number_; }

  // Called by every API function that enqueues work: records the task when the stream
  // is capturing, fails when the device has a fault, and otherwise queues the task. The
  // task is moved from only on success. `position`, if given, receives its position.
  orError_t enqueue(Task&& task, uint64_t* position = nullptr);

  uint64_t end() const { return enqueued_.load(std::memory_order_acquire); }
  bool done(uint64_t position) const { return completed_.load() >= position; }
  // Returns when `position` is done; runs tasks meanwhile.
  void wait(uint64_t position);

  // The handle was destroyed: the worker ends when the queue is empty.
  void retire();
  // Makes threads that wait for a position check the process state again.
  void wakeSleepers();
  // Lets the running task finish, and starts no other task.
  void halt(std::chrono::steady_clock::time_point deadline);

  // Set while the stream takes part in a capture; the rest is in capture.cpp, under its
  // lock.
  std::atomic<bool> capturing = false;
  std::shared_ptr<Capture> capture;

 private:
  enum class Worker { kNone, kAwake, kAsleep };
  // As on a real device, a launch that finds the queue full has to wait.
  static constexpr uint64_t kCapacity = 1024;

  struct Slot {
    Task task;
    uint64_t correlation = 0;  // of the recorded call that queued it
  };

  orError_t push(Task&& task, uint64_t* position);
  bool startWorker();
  void work();
  bool sleepOrLeave();
  void runUntil(uint64_t position);
  void sleepUntil(uint64_t position);

  // A launch and the run of a kernel take about as long as it takes to get a cache line
  // from another core. So the fields that each side writes for each task are in
  // separate cache lines.

  Device& device_;
  const int priority_;
  const int number_;
  std::unique_ptr<Slot[]> ring_;  // made with the first task

  // Written by the thread that runs tasks.
  alignas(64) std::mutex executor_;  // held by it
  std::atomic<uint64_t> completed_ = 0;
  std::atomic<uint64_t> wakeAt_ =
      UINT64_MAX;  // the lowest position a sleeper waits for

  // Written by threads that launch, read by the worker.
  alignas(64) std::atomic<uint64_t> enqueued_ = 0;

  alignas(64) std::mutex mutex_;  // guards all below, and putting tasks into the ring
  uint64_t seenCompleted_ = 0;    // not above completed_: the queue may look fuller
  Worker worker_ = Worker::kNone;
  bool retired_ = false;
  std::condition_variable workAdded_;
  std::condition_variable workDone_;
};

inline Ref<Stream> Device::defaultStream() const { return defaultStream_; }

// The stream of a handle (NULL: the default stream of the current device); null if not
// live.
Ref<Stream> findStream(orStream_t handle);
orError_t failStream(orStream_t handle);

}  // namespace openreg::driver
