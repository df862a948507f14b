// Collectives through memory that all ranks share; see docs/modules/distributed.md.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "occl_operation.h"
#include "occl_rendezvous.h"

namespace openreg::occl {

// Each rank has a share: the bytes that it gives to others, one part behind the other.
// Shares travel in chunks, as much as a page holds. A ChunkConsumer takes what a range
// of one share has, or the reduction of that range of all shares.
struct ChunkConsumer {
  int rank;  // whose share; kAllRanks: the reduction
  size_t offset;
  size_t bytes;
  std::byte* to;
  occlDataType_t dtype = occlUint8;
  occlRedOp_t op = occlSum;

  static constexpr int kAllRanks = -1;
};

class SharedMemoryCollectives {
 public:
  explicit SharedMemoryCollectives(SharedMemoryRendezvous& memory)
      : memory_(memory), ends_(memory.size()) {}

  // Runs a collective. Throws Failure.
  void run(const Operation& operation);

 private:
  struct Part {
    const std::byte* data;
    size_t bytes;
    size_t offset;
  };

  void add(const Call& call);
  void contribute(const std::byte* data, size_t bytes);
  void clear();
  // Carries all shares. `head` is in front of the first chunk; `opened` is called when
  // the heads of all ranks can be read.
  void carry(
      std::span<const std::byte> head, Milliseconds timeout,
      const std::function<void()>& opened = [] {});
  void consume(const ChunkConsumer& consumer, size_t first, size_t room, size_t at);
  void exchange(const std::vector<Call>& calls, Milliseconds timeout);

  SharedMemoryRendezvous& memory_;
  std::vector<Part> parts_;   // of this rank's share
  std::vector<size_t> ends_;  // of each rank's share
  std::vector<ChunkConsumer> consumers_;
};

}  // namespace openreg::occl
