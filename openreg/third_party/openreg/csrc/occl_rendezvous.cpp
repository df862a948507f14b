// Memory in which the ranks of one host meet; see docs/modules/distributed.md.
#include "occl_rendezvous.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "occl_failure.h"
#include "occl_shared_file.h"

namespace openreg::occl {
namespace {

using std::chrono::steady_clock;

// Sleeps while `word` is `seen`, until wake_all(). The word may be in shared memory.
// False: the time is over.
bool sleep_on(std::atomic<uint32_t>& word, uint32_t seen, Milliseconds time) {
  const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
  return syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void wake_all(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Milliseconds time_until(steady_clock::time_point end) {
  return std::chrono::ceil<Milliseconds>(end - steady_clock::now());
}

}  // namespace

struct SharedMemoryRendezvous::Memory {
  struct Rank {
    alignas(64) std::atomic<uint32_t> rounds;
    std::atomic<bool> left;
    std::atomic<int64_t> process;
    alignas(64) std::atomic<uint32_t> bell;
  };
  enum State : uint32_t { kGood, kBreaking, kBroken };

  int64_t token;  // the first word of the file
  std::atomic<int32_t> size;
  alignas(64) std::atomic<uint32_t> joined;
  alignas(64) std::atomic<uint32_t> arrivals;  // of all ranks, in all rounds
  alignas(64) std::atomic<uint32_t> state;
  char why[1024];

  // For each rank one of these, its slots, two pages, the buffers of its slots.
  Rank& of(int rank) { return reinterpret_cast<Rank*>(this + 1)[rank]; }
};

size_t SharedMemoryRendezvous::head_bytes() const {
  const size_t rank = sizeof(Memory::Rank) + kSlots * sizeof(MessageSlot);
  return (sizeof(Memory) + size_ * rank + 4095) / 4096 * 4096;
}

size_t SharedMemoryRendezvous::bytes() const {
  return head_bytes() + size_ * (2 * kPage + kSlots * MessageSlot::kBytes);
}

std::byte* SharedMemoryRendezvous::page(int rank, uint32_t round) const {
  return reinterpret_cast<std::byte*>(memory_) + head_bytes() +
         kPage * (2 * rank + round % 2);
}

MessageSlot& SharedMemoryRendezvous::slot(int rank, int index) const {
  auto* first = reinterpret_cast<MessageSlot*>(&memory_->of(size_));
  return first[rank * kSlots + index];
}

std::byte* SharedMemoryRendezvous::buffer(int rank, int index) const {
  const size_t number = static_cast<size_t>(rank) * kSlots + index;
  return page(size_, 0) + number * MessageSlot::kBytes;
}

std::unique_ptr<SharedMemoryRendezvous> SharedMemoryRendezvous::open(
    const SharedFile& shared, int rank, int size, std::string* why) {
  std::unique_ptr<SharedMemoryRendezvous> result(
      new SharedMemoryRendezvous(rank, size));
  return result->map(shared, why) ? std::move(result) : nullptr;
}

bool SharedMemoryRendezvous::map(const SharedFile& shared, std::string* why) {
  const int64_t space = process_space();
  if (space < 0 || space != shared.space) {
    *why = space < 0 ? "OCCL_SHM_DISABLE is set, or /proc is missing"
                     : "the process that made the id is on another host";
    return false;
  }
  const std::string path = joined("/proc/", shared.process, "/fd/", shared.file);
  const OpenFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  int64_t token = 0;
  if (pread(file.number, &token, sizeof token, 0) != sizeof token ||
      token != shared.token) {
    *why = "the process that made the id has ended or cannot be reached: " + path;
    return false;
  }
  const OpenFile watch(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  void* memory = MAP_FAILED;
  if (watch.number >= 0 && ftruncate(file.number, static_cast<off_t>(bytes())) == 0) {
    memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
  }
  if (memory == MAP_FAILED) {
    *why = joined("the memory cannot be mapped: ", std::strerror(errno));
    return false;
  }
  memory_ = static_cast<Memory*>(memory);
  process_ = getpid();
  return true;
}

void SharedMemoryRendezvous::join(Milliseconds timeout) {
  int32_t size = 0;
  if (!memory_->size.compare_exchange_strong(size, size_) && size != size_) {
    throw Failure(
        occlInvalidArgument,
        joined("this rank expects ", size_, " ranks, but another rank expects ", size));
  }
  int64_t process = 0;
  if (!memory_->of(rank_).process.compare_exchange_strong(process, process_)) {
    throw Failure(occlInvalidUsage, joined("process ", process, " is rank ", rank_,
                                           " of this id already"));
  }
  ++memory_->joined;
  wake_all(memory_->joined);
  const auto end = steady_clock::now() + timeout;
  for (uint32_t seen; (seen = memory_->joined) < static_cast<uint32_t>(size_);) {
    const auto left = time_until(end);
    if (left.count() <= 0) {
      throw Failure(occlTimeout,
                    joined("timed out after ", timeout.count(), " ms: only ", seen,
                           " of ", size_, " ranks joined"));
    }
    sleep_on(memory_->joined, seen, left);
  }
  processes_.reserve(size_);
  for (int rank = 0; rank < size_; ++rank) {
    const int64_t watched = memory_->of(rank).process;
    processes_.push_back(static_cast<int>(syscall(SYS_pidfd_open, watched, 0)));
    // A rank may already have joined, done its work and ended: see gone().
    if (processes_.back() < 0 && errno != ESRCH) {
      throw Failure(occlRemoteError,
                    joined("rank ", rank, ", process ", watched,
                           ", cannot be monitored: ", std::strerror(errno)));
    }
  }
}

SharedMemoryRendezvous::~SharedMemoryRendezvous() {
  leave();
  for (const int file : processes_) {
    if (file >= 0) close(file);
  }
  if (memory_ != nullptr) munmap(memory_, bytes());
}

// LITERALINCLUDE START: SHM_MEET
void SharedMemoryRendezvous::meet(Milliseconds timeout) {
  throw_if_broken();
  auto& arrivals = memory_->arrivals;
  const uint32_t goal = ++rounds_ * static_cast<uint32_t>(size_);  // (1)
  const bool last = arrivals.fetch_add(1) + 1 == goal;
  // After it has arrived: a rank that ends between the two is missed, in this meeting
  // or in the next. In the opposite order, it would seem to have arrived.
  memory_->of(rank_).rounds = rounds_;
  if (last) {
    wake_all(arrivals);  // (2)
    return;
  }
  // LITERALINCLUDE END: SHM_MEET
  // LITERALINCLUDE START: SHM_WAIT
  const auto end = steady_clock::now() + timeout;
  for (;;) {
    const uint32_t seen = arrivals;
    if (static_cast<int32_t>(seen - goal) >= 0) return;
    throw_if_broken();
    const Milliseconds left = time_until(end);
    if (left.count() > 0) {
      sleep_on(arrivals, seen, std::min(left, kCheckInterval));
      check_the_missing();  // (1)
      continue;
    }
    std::string late;  // stays empty if the last rank has just arrived
    for (int rank = 0; rank < size_; ++rank) {
      if (is_missing(rank)) late += joined(late.empty() ? "rank " : ", rank ", rank);
    }
    if (!late.empty()) {  // (2)
      fail(joined("timed out after ", timeout.count(), " ms without ", late));
    }
  }
}
// LITERALINCLUDE END: SHM_WAIT

void SharedMemoryRendezvous::check_the_missing() noexcept {
  for (int rank = 0; rank < size_; ++rank) {
    const std::string why = gone(rank);
    if (!why.empty() && is_missing(rank)) fail(joined("rank ", rank, why));
  }
}

std::string SharedMemoryRendezvous::gone(int rank) const {
  if (memory_->of(rank).left) return " has left the group";
  pollfd process{.fd = processes_[rank], .events = POLLIN, .revents = 0};
  const bool ended = process.fd < 0 || poll(&process, 1, 0) == 1;
  return ended ? ": its process has ended" : "";
}

bool SharedMemoryRendezvous::is_missing(int rank) const {
  return static_cast<int32_t>(memory_->of(rank).rounds - rounds_) < 0;
}

void SharedMemoryRendezvous::fail(const std::string& why) noexcept {
  uint32_t expected = Memory::kGood;
  if (memory_->state.compare_exchange_strong(expected, Memory::kBreaking)) {
    std::snprintf(memory_->why, sizeof memory_->why, "%s", why.c_str());
    memory_->state = Memory::kBroken;
    wake_all(memory_->state);
  }
  wake_all(memory_->arrivals);
  for (int rank = 0; rank < size_; ++rank) ring(rank);
}

void SharedMemoryRendezvous::throw_if_broken() const {
  uint32_t state = memory_->state;
  // Until the reason is written, or the process that writes it has ended.
  for (int checks = 0; state == Memory::kBreaking && checks < 10; ++checks) {
    sleep_on(memory_->state, state, kCheckInterval);
    state = memory_->state;
  }
  if (state != Memory::kGood) {
    throw Failure(occlRemoteError,
                  state == Memory::kBroken
                      ? memory_->why
                      : "another rank failed and ended before it reported why");
  }
}

void SharedMemoryRendezvous::leave() noexcept {
  if (memory_ == nullptr || process_ != getpid()) return;  // a copy that fork() made
  memory_->of(rank_).left = true;
  wake_all(memory_->arrivals);
  for (int rank = 0; rank < size_; ++rank) ring(rank);
}

void SharedMemoryRendezvous::ring(int rank) const {
  auto& bell = memory_->of(rank).bell;
  ++bell;
  wake_all(bell);
}

uint32_t SharedMemoryRendezvous::bell() const { return memory_->of(rank_).bell; }

bool SharedMemoryRendezvous::sleep(uint32_t bell, Milliseconds time) const {
  return sleep_on(memory_->of(rank_).bell, bell, time);
}

}  // namespace openreg::occl
