// Operations of ranks on several hosts; see docs/modules/distributed.md.
#pragma once

#include "occl_operation.h"

namespace openreg::occl {

// All of it over a network plug-in. Throws Failure.
class NetOperations {
 public:
  NetOperations(const occlNet_t& net, int rank, int size, Milliseconds timeout)
      : net_(net), rank_(rank), size_(size), timeout_(timeout) {}

  // Runs a collective: one of a communicator at a time.
  void run(const Operation& operation);
  // Sends and receives all messages of a group at the same time.
  void run_messages(Operation& operation);
  // Gives `all` what `mine` is on each rank.
  void all_gather(const void* mine, void* all, size_t bytes);

 private:
  struct Transfer {
    int peer;
    const std::byte* send;  // null: a receive
    std::byte* recv;
    size_t bytes;
    int number = 0;  // among those between the two ranks
  };

  // When it is destroyed, even after a failure, no request uses a buffer any more.
  struct Waiter {
    NetOperations& operations;
    ~Waiter();
  };

  void run_call(const Call& call);
  // Leaves the reduction of a part of every rank's `send` in `to`: this rank's part.
  void scatter_reductions(const Call& call, const std::vector<size_t>& starts,
                          std::byte* to);
  void exchange(const std::vector<Call>& calls);
  void transfer(const std::vector<Transfer>& transfers);
  void* start(bool sends, const void* data, size_t bytes, int peer, int tag);
  int wait(void* request);
  void require(occlResult_t result);

  const occlNet_t& net_;
  const int rank_;
  const int size_;
  const Milliseconds timeout_;
  std::vector<void*> pending_;  // requests
};

}  // namespace openreg::occl
