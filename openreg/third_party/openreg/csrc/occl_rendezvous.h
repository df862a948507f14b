// Memory in which the ranks of one host meet; see docs/modules/distributed.md.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "occl.h"

namespace openreg::occl {

using Milliseconds = std::chrono::milliseconds;

// How long a rank sleeps before it checks whether the other ranks still run.
constexpr Milliseconds kCheckInterval{100};

// What the bytes of an occlUniqueId mean: a file without a name in some process.
struct SharedFile {
  char magic[8];
  int64_t process;
  int64_t file;   // its number in that process
  int64_t token;  // is in the file too, and differs from any other
  int64_t space;  // of the process, see process_space()

  static SharedFile make();  // throws Failure
  // Closes the file if this process made it. What is mapped stays mapped.
  void close_own() const;
  bool is_valid() const;
};
static_assert(sizeof(SharedFile) <= sizeof(occlUniqueId));

// A message on its way from the rank that owns the slot; see occl_messages.cpp.
struct MessageSlot {
  enum State : uint32_t { kFree, kFilling, kPosted, kTaken, kAccepted, kRefused };
  static constexpr size_t kBytes = 256 << 10;  // of the buffer

  alignas(64) std::atomic<uint32_t> state;
  std::atomic<int32_t> to;
  std::atomic<int32_t> tag;
  int32_t dtype;
  int32_t expected_dtype;
  std::atomic<uint64_t> order;  // of the sender's messages
  uint64_t bytes;
  uint64_t expected_bytes;
  std::atomic<uint64_t> written;
  std::atomic<uint64_t> read;
};

// In a meeting each rank writes its page, waits for the other ranks, and reads all
// pages. The system frees the memory when the last process that maps it ends, even by a
// crash. Meetings are for one thread of a rank at a time: hold `mutex`.
class SharedMemoryRendezvous {
 public:
  static constexpr size_t kPage = 1 << 20;  // bytes
  static constexpr int kSlots = 64;         // messages that a rank sends at a time

  // Maps the memory; null, and a reason, if this rank cannot reach it: it is on another
  // host or in another container, or has set OCCL_SHM_DISABLE=1.
  static std::unique_ptr<SharedMemoryRendezvous> open(const SharedFile& shared,
                                                      int rank, int size,
                                                      std::string* why);
  ~SharedMemoryRendezvous();
  SharedMemoryRendezvous(const SharedMemoryRendezvous&) = delete;
  SharedMemoryRendezvous& operator=(const SharedMemoryRendezvous&) = delete;

  // Waits until all ranks have mapped the memory. All functions that wait throw
  // Failure.
  void join(Milliseconds timeout);

  int rank() const { return rank_; }
  int size() const { return size_; }

  // This rank's page, for the next meeting.
  std::byte* mine() { return page(rank_, rounds_ + 1); }
  // What a rank had on its page in the last meeting; valid until the next.
  const std::byte* of(int rank) const { return page(rank, rounds_); }

  // Returns when all ranks have called it as often as this one. Throws on every rank
  // when a rank has ended, has left or exceeds `timeout`. After that every call throws
  // the same error.
  void meet(Milliseconds timeout);
  // Breaks it for all ranks; those that wait wake up. Any thread may call it.
  void fail(const std::string& why) noexcept;
  // This rank joins no further meeting, so the other ranks need not wait for it.
  void leave() noexcept;
  void throw_if_broken() const;

  // Messages. The bell of a rank rings when there may be a message for it.
  MessageSlot& slot(int rank, int index) const;
  std::byte* buffer(int rank, int index) const;
  void ring(int rank) const;
  uint32_t bell() const;
  // Sleeps until the bell rings; false after `time`.
  bool sleep(uint32_t bell, Milliseconds time) const;
  // "its process has ended", "has left the group"; empty: it may still come.
  std::string gone(int rank) const;
  uint64_t next_order() { return orders_.fetch_add(1); }

  std::mutex mutex;

 private:
  struct Memory;
  SharedMemoryRendezvous(int rank, int size) : rank_(rank), size_(size) {}

  bool map(const SharedFile& shared, std::string* why);
  std::byte* page(int rank, uint32_t round) const;
  size_t head_bytes() const;
  size_t bytes() const;
  // Breaks it if a rank that is still missing will not come any more.
  void check_the_missing() noexcept;
  bool is_missing(int rank) const;

  const int rank_;
  const int size_;
  pid_t process_ = 0;
  uint32_t rounds_ = 0;  // meetings so far; wraps around
  Memory* memory_ = nullptr;
  std::vector<int> processes_;  // a pidfd for each rank; -1: it ended before
  std::atomic<uint64_t> orders_ = 0;
};

}  // namespace openreg::occl
