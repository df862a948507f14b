// Ranks for the tests of OCCL: forked processes. See docs/modules/distributed.md.
//
// A test runs its statement in a fresh process, where the driver has not started yet.
// It forks there, one child for each rank.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "occl.h"
#include "support.h"

namespace openreg_test {

// Ends the process with the line of the check that failed.
#define REQUIRE(condition)                                                        \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: %s: %s; %s\n", __FILE__, __LINE__, #condition, \
                   orGetErrorDetail(), occlGetLastError(nullptr));                \
      _exit(1);                                                                   \
    }                                                                             \
  } while (false)

#define REQUIRE_WORDS(text, words)                                                  \
  do {                                                                              \
    if (std::string(text).find(words) == std::string::npos) {                       \
      std::fprintf(stderr, "%s:%d: '%s' should mention '%s'\n", __FILE__, __LINE__, \
                   std::string(text).c_str(), std::string(words).c_str());          \
      _exit(1);                                                                     \
    }                                                                               \
  } while (false)

// What the ranks of a test share besides OCCL.
struct Meeting {
  std::atomic<int> id_is_made = 0;
  occlUniqueId id = {};
  std::atomic<int> steps = 0;  // for the test
  // Returns when somebody has added up to `count` steps.
  void await(int count) const {
    while (steps < count) usleep(1000);
  }
};

struct Rank {
  int rank;
  int size;
  occlComm_t comm;
  Meeting& meeting;
};

// Runs `body` on each rank and ends the calling process: with 0 if all is well. The
// alarm ends a rank that hangs.
[[noreturn]] inline void runRanks(int size, const std::function<void(Rank)>& body,
                                  int64_t timeoutMs = 0, int killed = -1) {
  void* shared = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& meeting = *new (shared) Meeting;
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    alarm(50);
    if (rank == 0) {
      REQUIRE(occlGetUniqueId(&meeting.id) == occlSuccess);
      meeting.id_is_made = 1;
    }
    while (meeting.id_is_made == 0) usleep(100);
    occlComm_t comm = nullptr;
    const occlConfig_t config{timeoutMs, nullptr};
    REQUIRE(occlCommInitRankConfig(&comm, size, meeting.id, rank, &config) ==
            occlSuccess);
    body({rank, size, comm, meeting});
    occlCommDestroy(comm);
    _exit(0);
  }
  bool good = true;
  for (int rank = 0; rank < size; ++rank) {
    int status = -1;
    waitpid(children[rank], &status, 0);
    good &= rank == killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                           : WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  _exit(good ? 0 : 1);
}

// Device memory with numbers.
template <class T>
class Numbers {
 public:
  explicit Numbers(const std::vector<T>& values) : count_(values.size()) {
    REQUIRE(orMalloc(&ptr_, std::max<size_t>(1, bytes())) == orSuccess);
    REQUIRE(orMemcpy(ptr_, values.data(), bytes(), orMemcpyHostToDevice) == orSuccess);
  }
  Numbers(size_t count, T value) : Numbers(std::vector<T>(count, value)) {}
  ~Numbers() { orFree(ptr_); }
  Numbers(const Numbers&) = delete;
  T* get() const { return static_cast<T*>(ptr_); }
  size_t size() const { return count_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    REQUIRE(orMemcpy(values.data(), ptr_, bytes(), orMemcpyDeviceToHost) == orSuccess);
    return values;
  }
  bool are(T value) const { return read() == std::vector<T>(count_, value); }

 private:
  size_t bytes() const { return count_ * sizeof(T); }
  void* ptr_ = nullptr;
  size_t count_;
};

#define EXPECT_RANKS(...) \
  EXPECT_EXIT(runRanks(__VA_ARGS__), testing::ExitedWithCode(0), "")

// On the default stream, waited for.
#define REQUIRE_OCCL(call)                       \
  do {                                           \
    REQUIRE((call) == occlSuccess);              \
    REQUIRE(orDeviceSynchronize() == orSuccess); \
  } while (false)

// The call is enqueued, and its kernel fails with a fault that mentions `words`.
inline void requireFault(occlResult_t enqueued, const std::string& words) {
  REQUIRE(enqueued == occlSuccess);
  REQUIRE(orDeviceSynchronize() == orErrorLaunchFailure);
  REQUIRE_WORDS(orGetErrorDetail(), words);
}

template <class T>
void requireReduction(const Rank& me, occlDataType_t dtype, occlRedOp_t op, T own,
                      T expected) {
  for (size_t count : {1, 7, 300'007}) {
    Numbers<T> numbers(count, own);
    REQUIRE_OCCL(occlAllReduce(numbers.get(), numbers.get(), count, dtype, op, me.comm,
                               nullptr));
    REQUIRE(numbers.are(expected));
  }
}

}  // namespace openreg_test
