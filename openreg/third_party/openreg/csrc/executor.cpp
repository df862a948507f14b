// The executor: how tasks get queued, run, waited for. See docs/start/architecture.md.
//
// Each stream that has ever had work has one worker thread. A thread that waits for a
// stream does not only sleep: when no thread runs the stream's tasks, it runs
// them itself. This spares two thread switches per launch and wait. OPENREG_STEAL=0
// turns it off.
//
// There is no deadlock, provided that the kernels themselves end and that no thread
// keeps holding a stream (simulator.h). A task only ever waits for marks, and a mark is
// set before the wait for it is enqueued. Take the oldest unfinished task of all
// streams: everything it could wait for is older, hence finished, so a thread that runs
// it makes progress. If no thread runs it, then the worker of its stream is awake (it
// sleeps only when the queue is empty) and takes it as soon as the executor lock is
// free. A thread that helps while it runs a waiting task needs only older tasks than
// that one, so it never comes back to a stream whose lock it holds.
#include <pthread.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <system_error>
#include <thread>

#include "call.h"
#include "capture.h"
#include "simulator.h"
#include "stream.h"

namespace openreg::driver {
namespace {

// After work the worker naps for about 2 ms, polling at intervals, before it sleeps
// until it is notified. Loops of launch and wait thus issue no wake-up call, which
// costs more than a small kernel.
constexpr auto kNap = std::chrono::microseconds(50);
constexpr int kNaps = 20;

// Helping nests when helped streams wait for other streams. The depth is limited, to
// limit stack usage.
constexpr int kMaxDepth = 8;

// How often a waiting thread polls before it sleeps: about as long as a short kernel
// takes.
constexpr int kSpins = 200;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Workers leave signals to the threads of the program, except those that report a
// defect of the code that runs on them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int kept :
         {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) {
      sigdelset(&all, kept);
    }
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

 private:
  sigset_t saved_;
};

}  // namespace

orError_t Stream::enqueue(Task&& task, uint64_t* position) {
  if (capturing.load(std::memory_order_acquire)) [[unlikely]] {
    return captureTask(*this, std::move(task));
  }
  if (orError_t error = device_.reportFault()) return error;
  uint64_t own = 0;
  if (orError_t error = push(std::move(task), &own)) return error;
  if (position != nullptr) *position = own;
  // The next call reports a fault, not this call, which has accepted the task.
  if (config.launchBlocking && !(simulatorActs() && anyHeld())) wait(own);
  return orSuccess;
}

orError_t Stream::push(Task&& task, uint64_t* position) {
  for (;;) {
    uint64_t end = 0;
    {
      std::lock_guard lock(mutex_);
      // Relaxed: enqueued_ is set under mutex_.
      end = enqueued_.load(std::memory_order_relaxed);
      if (end - seenCompleted_ >= kCapacity) {
        seenCompleted_ = completed_.load(std::memory_order_acquire);
      }
      if (end - seenCompleted_ < kCapacity) {
        if (worker_ == Worker::kNone && !startWorker()) {
          return fail(orErrorInitializationError,
                      "the system cannot start a thread for stream %d of device %d. "
                      "Use fewer streams or raise the limit (ulimit -u)",
                      number_, device_.index());
        }
        Slot& slot = ring_[end % kCapacity];
        slot.task = std::move(task);
        slot.correlation = thread.correlation;
        if (thread.correlation != 0) [[unlikely]]
          taskLaunched(thread.correlation);
        *position = end + 1;
        device_.taskAdded();
        enqueued_.store(end + 1, std::memory_order_release);
        if (worker_ == Worker::kAsleep) {
          worker_ = Worker::kAwake;
          workAdded_.notify_one();
        }
        return orSuccess;
      }
    }
    wait(end - kCapacity / 2);
  }
}

// Under mutex_.
bool Stream::startWorker() {
  if (ring_ == nullptr) ring_ = std::make_unique<Slot[]>(kCapacity);
  SignalsBlocked blocked;
  try {
    std::thread([self = Table<Stream>::refTo(this)] { self->work(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  worker_ = Worker::kAwake;
  return true;
}

void Stream::work() {
  char name[16];
  std::snprintf(name, sizeof name, "openreg%d-%d", device_.index(), number_);
  pthread_setname_np(pthread_self(), name);
  // Streams of higher priority request more processor time from the system. Without the
  // permission for it, the priority has no effect.
  if (priority_ < 0) setpriority(PRIO_PROCESS, 0, priority_);

  const int maxNaps = config.steal ? kNaps : 0;
  int naps = 0;
  uint64_t seen = 0;
  for (;;) {
    uint64_t end = this->end();
    if (end != seen) naps = 0;
    seen = end;
    if (!done(end)) {
      std::unique_lock lock(executor_, std::try_to_lock);
      if (!lock && naps >= maxNaps) lock.lock();
      if (lock) {
        runUntil(end);
        continue;
      }
    } else if (naps >= maxNaps) {
      if (!sleepOrLeave()) return;
      naps = 0;
      continue;
    }
    std::this_thread::sleep_for(kNap);
    ++naps;
  }
}

// Sleeps until there is work; false when the worker is to end.
bool Stream::sleepOrLeave() {
  std::unique_lock lock(mutex_);
  if (!done(end())) return true;
  if (!retired_) {
    worker_ = Worker::kAsleep;
    workAdded_.wait(lock, [this] { return worker_ == Worker::kAwake; });
    return true;
  }
  worker_ = Worker::kNone;
  return false;
}

// Runs tasks up to `position`. The caller holds the executor lock. Stops early only
// when the process exits: then the task that has just run may be a wait that was given
// up.
void Stream::runUntil(uint64_t position) {
  ++thread.depth;
  // Relaxed: completed_ is set under the executor lock.
  for (uint64_t next = completed_.load(std::memory_order_relaxed); next < position;) {
    if (simulatorActs()) [[unlikely]]
      beforeTask(*this, next + 1);
    if (processState() == ProcessState::kExiting) break;
    Slot& slot = ring_[next % kCapacity];
    runTask(slot.task, device_, {slot.correlation, device_.index(), number_});
    if (processState() == ProcessState::kExiting) break;
    if (slot.correlation != 0) [[unlikely]]
      taskEnded(slot.correlation);
    slot.task = Task();  // destroy(args) of a kernel runs here, before waits end
    completed_.store(++next);
    device_.taskDone();
    // Pairs with sleepUntil(): either this thread sees the sleeper's position, or the
    // sleeper sees the task done. Both sides need sequential consistency for that.
    if (wakeAt_.load() <= next) {
      std::lock_guard lock(mutex_);
      wakeAt_.store(UINT64_MAX);
      workDone_.notify_all();
    }
  }
  --thread.depth;
}

void Stream::wait(uint64_t position) {
  if (done(position)) return;
  if (config.steal && thread.depth < kMaxDepth) {
    std::unique_lock lock(executor_, std::try_to_lock);
    if (lock) runUntil(position);
  }
  for (int i = 0; i < kSpins; ++i) {
    if (done(position)) return;
    pause();
  }
  sleepUntil(position);
}

// While the process exits, waits on behalf of a stream are given up, so that the stream
// can be halted. A thread of the program keeps sleeping, because the work is not done.
void Stream::sleepUntil(uint64_t position) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (wakeAt_.load() > position) wakeAt_.store(position);
    if (done(position)) return;
    if (thread.depth > 0 && processState() == ProcessState::kExiting) return;
    workDone_.wait(lock);
  }
}

void Stream::retire() {
  std::lock_guard lock(mutex_);
  retired_ = true;
  if (worker_ == Worker::kAsleep) {
    worker_ = Worker::kAwake;
    workAdded_.notify_one();
  }
}

void Stream::wakeSleepers() {
  std::lock_guard lock(mutex_);
  workDone_.notify_all();
}

void Stream::halt(std::chrono::steady_clock::time_point deadline) {
  while (!executor_.try_lock()) {
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace openreg::driver
