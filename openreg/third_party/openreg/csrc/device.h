// A device: its memory, streams and sticky fault. See docs/start/architecture.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "handle.h"
#include "heap.h"
#include "openreg.h"

namespace openreg::driver {

class Stream;
struct Mark;

class Device {
 public:
  explicit Device(int index);

  int index() const { return index_; }
  Ref<Stream> defaultStream() const;  // defined in stream.h

  // Device memory. Lock heapMutex around every use.
  std::mutex heapMutex;
  Heap heap;

  // Waits until every stream has finished what it holds now, and every launch of a
  // graph that uses this device from a stream of another.
  void wait();
  void addGraphLaunch(std::shared_ptr<Mark> end);
  // For onExit() in process.cpp: cancels the waits of streams for each other; then
  // locks the executor locks of all streams and keeps them locked.
  void wakeSleepers();
  void halt(std::chrono::steady_clock::time_point deadline);

  // Streams register with the device, and report their end and their tasks.
  int addStream(Stream* stream);  // returns the stream's number, used in messages
  void removeStream(Stream* stream);
  // Relaxed: the stream publishes it to those that run the task, with the task, and
  // taskDone() to those that wait.
  void taskAdded() { added_.fetch_add(1, std::memory_order_relaxed); }
  void taskDone() { done_.fetch_add(1, std::memory_order_release); }

  // The sticky fault. The first one stays until clearFault().
  bool faulted() const { return fault_.load(std::memory_order_acquire) != orSuccess; }
  void raiseFault(orError_t error, const char* kernel, int stream, const char* words);
  void clearFault();
  // orSuccess, or the fault as an error of the API function the thread is in.
  orError_t reportFault() { return faulted() ? failWithFault() : orSuccess; }

 private:
  orError_t failWithFault();
  std::vector<Ref<Stream>> liveStreams();
  void waitForStreams();

  const int index_;
  Ref<Stream> defaultStream_;
  std::atomic<orError_t> fault_ = orSuccess;
  std::mutex faultMutex_;
  std::string faultWords_;
  std::mutex streamsMutex_;
  std::vector<Stream*> streams_;
  int streamsMade_ = 0;
  std::vector<std::shared_ptr<Mark>> graphLaunches_;  // the ends of those
  std::atomic<bool> anyGraphLaunch_ = false;          // so that others need no lock
  std::vector<Ref<Stream>> halted_;  // for the rest of the process: a lock stays held

  // Tasks, in cache lines of their own: threads that launch write the first, and those
  // that run tasks the second.
  alignas(64) std::atomic<uint64_t> added_ = 0;
  alignas(64) std::atomic<uint64_t> done_ = 0;
};

// orSuccess when `device` is the ordinal of a device. Does not need a running driver.
orError_t checkDevice(int device);

}  // namespace openreg::driver
