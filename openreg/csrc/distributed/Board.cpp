// Memory in which the ranks of one host meet; see docs/modules/distributed.md.
#include "csrc/distributed/Board.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Logging.h>
#include <c10/util/env.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <random>
#include <utility>

#include "csrc/distributed/Agreement.h"

namespace openreg {
namespace {

using std::chrono::steady_clock;

// How long a rank sleeps before it looks whether the others are still there.
constexpr std::chrono::milliseconds kLook{100};

// Sleeps while `word` is `seen`, until wake(). The word may be in shared memory.
void sleep(std::atomic<uint32_t>& word, uint32_t seen, std::chrono::milliseconds time) {
  const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

struct File {
  explicit File(int number) : number(number) {}
  ~File() {
    if (number >= 0) {
      close(number);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const int number;
};

// Processes of one space know each other by the same numbers, and have the same
// network: what has another one is another host. -1: no board, please.
int64_t process_space() {
  struct stat space = {}, network = {};
  const bool good = c10::utils::check_env("OCCL_SHM_DISABLE") != true &&
                    stat("/proc/self/ns/pid", &space) == 0 &&
                    stat("/proc/self/ns/net", &network) == 0;
  return good ? static_cast<int64_t>(space.st_ino << 31 ^ network.st_ino) : -1;
}

int64_t random_number() {
  std::random_device random;
  return static_cast<int64_t>((uint64_t{random()} << 32) | random());
}

}  // namespace

struct Board::Memory {
  struct Rank {
    alignas(64) std::atomic<uint32_t> rounds;
    std::atomic<bool> left;
  };
  enum State : uint32_t { kGood, kBreaking, kBroken };

  int64_t token;                               // tells this file from any other
  alignas(64) std::atomic<uint32_t> arrivals;  // of all ranks, in all rounds
  alignas(64) std::atomic<uint32_t> state;
  char why[1024];

  // One for each rank; then two pages for each.
  Rank& of(int rank) { return reinterpret_cast<Rank*>(this + 1)[rank]; }
};

size_t Board::bytes() const {
  const size_t head = sizeof(Memory) + size_ * sizeof(Memory::Rank);
  return (head + 4095) / 4096 * 4096 + 2 * size_ * kPage;
}

std::byte* Board::page(int rank, uint32_t round) const {
  auto* end = reinterpret_cast<std::byte*>(memory_) + bytes();
  return end - kPage * (2 * rank + round % 2 + 1);
}

// LITERALINCLUDE START: BOARD_MAKE
std::shared_ptr<Board> Board::make(c10d::Backend& carrier) {
  std::shared_ptr<Board> board(new Board(carrier.getRank(), carrier.getSize()));
  const auto timeout = carrier.getBackendOptions()->timeout;
  const bool first = board->rank_ == 0;
  const File made(first ? memfd_create("openreg-occl", MFD_CLOEXEC) : -1);
  const int64_t token = random_number();
  if (first && ftruncate(made.number, static_cast<off_t>(board->bytes())) == 0 &&
      board->map(made.number)) {
    board->memory_->token = token;
  }
  const std::vector<int64_t> mine{getpid(), made.number, token, process_space()};
  const at::Tensor rows = exchange(carrier, at::tensor(mine), timeout);  // (1)
  const auto row = rows.accessor<int64_t, 2>();
  std::vector<int64_t> processes;
  bool good = process_space() >= 0;
  for (int rank = 0; rank < board->size_; ++rank) {
    processes.push_back(row[rank][0]);
    good &= row[rank][3] == row[0][3];  // (2)
  }
  const std::string path = c10::str("/proc/", row[0][0], "/fd/", row[0][1]);
  const File file(good && !first ? open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)
                                 : -1);
  good = good && (first || board->map(file.number)) && board->memory_ != nullptr &&
         board->memory_->token == row[0][2] && board->watch(processes);  // (3)
  const at::Tensor all = exchange(carrier, at::tensor({int64_t{good}}), timeout);
  good = all.min().item<int64_t>() == 1;
  LOG(INFO) << "occl: the " << board->size_ << " ranks "
            << (good ? "share memory" : "send everything with Gloo");
  return good ? board : nullptr;  // (4)
}
// LITERALINCLUDE END: BOARD_MAKE

bool Board::map(int file) {
  struct stat status = {};
  if (file < 0 || fstat(file, &status) != 0 ||
      static_cast<size_t>(status.st_size) != bytes()) {
    return false;  // it is something else: reading beyond its end would kill us
  }
  void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memory_ = memory == MAP_FAILED ? nullptr : static_cast<Memory*>(memory);
  return memory_ != nullptr;
}

bool Board::watch(std::span<const int64_t> processes) {
  process_ = getpid();
  processes_.reserve(processes.size());  // no exception behind the opening
  for (const int64_t process : processes) {
    processes_.push_back(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  }
  return std::ranges::all_of(processes_, [](int file) { return file >= 0; });
}

Board::~Board() {
  leave();
  for (const int file : processes_) {
    if (file >= 0) {
      close(file);
    }
  }
  if (memory_ != nullptr) {
    munmap(memory_, bytes());
  }
}

// LITERALINCLUDE START: BOARD_MEET
void Board::meet(std::chrono::milliseconds timeout) {
  throw_if_broken();
  auto& arrivals = memory_->arrivals;
  const uint32_t goal = ++rounds_ * static_cast<uint32_t>(size_);  // (1)
  const bool last = arrivals.fetch_add(1) + 1 == goal;
  // After it has arrived: who dies between the two is missed, in this meeting or in the
  // next. The other way round, it would seem to have come.
  memory_->of(rank_).rounds = rounds_;
  if (last) {
    wake(arrivals);  // (2)
    return;
  }
  const auto end = steady_clock::now() + timeout;
  for (;;) {
    const uint32_t seen = arrivals;
    if (static_cast<int32_t>(seen - goal) >= 0) {
      return;
    }
    throw_if_broken();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) {
      std::string late;  // stays empty if the last one came just now
      for (int rank = 0; rank < size_; ++rank) {
        if (is_missing(rank)) {
          late += c10::str(late.empty() ? "rank " : ", rank ", rank);
        }
      }
      if (!late.empty()) {  // (3)
        fail(c10::str("timed out after ", timeout.count(), " ms without ", late));
      }
    } else {
      sleep(arrivals, seen, std::min(left, kLook));
      look_for_the_missing();  // (4)
    }
  }
}
// LITERALINCLUDE END: BOARD_MEET

void Board::look_for_the_missing() noexcept {
  for (int rank = 0; rank < size_; ++rank) {
    const bool left = memory_->of(rank).left;
    pollfd process{.fd = processes_[rank], .events = POLLIN, .revents = 0};
    if ((left || poll(&process, 1, 0) == 1) && is_missing(rank)) {
      fail(c10::str("rank ", rank,
                    left ? " has left the group" : ": its process has ended"));
    }
  }
}

bool Board::is_missing(int rank) const {
  return static_cast<int32_t>(memory_->of(rank).rounds - rounds_) < 0;
}

void Board::fail(const std::string& why) noexcept {
  uint32_t expected = Memory::kGood;
  if (memory_->state.compare_exchange_strong(expected, Memory::kBreaking)) {
    std::snprintf(memory_->why, sizeof memory_->why, "%s", why.c_str());
    memory_->state = Memory::kBroken;
    wake(memory_->state);
  }
  wake(memory_->arrivals);
}

void Board::throw_if_broken() const {
  uint32_t state = memory_->state;
  // Until the reason is written, or whoever writes it has died.
  for (int looks = 0; state == Memory::kBreaking && looks < 10; ++looks) {
    sleep(memory_->state, state, kLook);
    state = memory_->state;
  }
  TORCH_CHECK_WITH(DistBackendError, state == Memory::kGood,
                   state == Memory::kBroken ? memory_->why : "another rank gave up");
}

void Board::leave() noexcept {
  if (memory_ != nullptr && process_ == getpid()) {  // not in a copy that fork() made
    memory_->of(rank_).left = true;
    wake(memory_->arrivals);
  }
}

}  // namespace openreg
