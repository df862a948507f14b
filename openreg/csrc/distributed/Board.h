// Memory in which the ranks of one host meet; see docs/modules/distributed.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace openreg {

// Each rank writes a page, waits for the others, and reads all pages. The memory is a
// file without a name, which the system frees with the last process that maps it,
// however that ends. One thread of a rank at a time: hold `mutex`.
class Board {
 public:
  static constexpr size_t kPage = 1 << 20;  // bytes

  // All ranks of `carrier` call it. Null, on every rank, if one of them cannot reach
  // the memory of rank 0 (it is on another host, in another container), or has set
  // OCCL_SHM_DISABLE=1.
  static std::shared_ptr<Board> make(c10d::Backend& carrier);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  int size() const { return size_; }

  // This rank's page, for the next meeting.
  std::byte* mine() { return page(rank_, rounds_ + 1); }
  // What a rank had on its page in the last meeting; valid until the next.
  const std::byte* of(int rank) const { return page(rank, rounds_); }

  // Returns when all ranks have called it as often as this one. Throws
  // DistBackendError, on every rank, when one has ended or left or is late by
  // `timeout`. After that the board is broken: every call throws what broke it.
  void meet(std::chrono::milliseconds timeout);
  // Breaks the board, for all ranks; those who wait wake up. Any thread may call it.
  void fail(const std::string& why) noexcept;
  // This rank comes to no further meeting: who waits for it need not.
  void leave() noexcept;

  std::mutex mutex;

 private:
  struct Memory;
  Board(int rank, int size) : rank_(rank), size_(size) {}

  bool map(int file);
  bool watch(std::span<const int64_t> processes);
  std::byte* page(int rank, uint32_t round) const;
  size_t bytes() const;
  void throw_if_broken() const;
  // Breaks the board if a rank that is still missing will not come any more.
  void look_for_the_missing() noexcept;
  bool is_missing(int rank) const;

  const int rank_;
  const int size_;
  int process_ = 0;
  uint32_t rounds_ = 0;  // meetings so far; wraps around
  Memory* memory_ = nullptr;
  std::vector<int> processes_;  // a pidfd for each rank
};

}  // namespace openreg
