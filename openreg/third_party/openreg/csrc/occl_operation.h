// What a kernel of OCCL does: the calls of a group; see docs/modules/distributed.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "occl.h"
#include "occl_reduce.h"

namespace openreg::occl {

using Milliseconds = std::chrono::milliseconds;

// One call of the API. Buffers are addresses as the device has them, see on_device().
struct Call {
  enum Kind : uint8_t {
    kAllReduce,
    kReduce,
    kBroadcast,
    kAllGather,
    kReduceScatter,
    kVerify,
    kSend,
    kRecv
  };
  Kind kind;
  const std::byte* send = nullptr;
  std::byte* recv = nullptr;
  size_t count = 0;
  occlDataType_t dtype = occlUint8;
  occlRedOp_t op = occlSum;
  int peer = 0;  // the root of a collective, or the other end of a message
  int tag = 0;
  std::string text = {};  // of occlVerify()

  size_t bytes() const { return count * size_of(dtype); }
  bool is_message() const { return kind >= kSend; }
  bool reduces() const { return kind <= kReduce || kind == kReduceScatter; }
  std::string describe() const;
};

// No occlSendTag() uses this tag.
constexpr int kUntagged = occlMaxTag + 1;

// What must be equal on all ranks, as text for an error.
struct CollectiveFingerprint {
  uint64_t hash = 0;  // of all calls
  char text[248] = "";

  // `number`: how many collectives came before.
  CollectiveFingerprint() = default;
  CollectiveFingerprint(uint64_t number, const char* name,
                        const std::vector<Call>& calls);
  bool operator==(const CollectiveFingerprint& other) const;
};

// What each rank sends all others before a collective.
struct Head {
  CollectiveFingerprint fingerprint;
  uint64_t messages = 0;  // 1: there are messages in the group of this rank
};

// Throws, on every rank alike, if the fingerprint of one rank differs.
void verify(const std::vector<Head>& heads);
// Throws if a rank sends more or fewer bytes than its peer expects. `table` has a row
// for each rank: bytes to each rank, and then bytes from each rank.
void verify_messages(const std::vector<uint64_t>& table, size_t ranks);
// This rank's row.
std::vector<uint64_t> bytes_of_messages(const std::vector<Call>& calls, size_t ranks);

struct Operation {
  std::vector<Call> calls;
  Milliseconds timeout{0};
  bool collective = false;  // all ranks take part
  Head head = {};           // of a collective
  int source = -1;          // set when it runs: the sender of a receive from any rank
};

}  // namespace openreg::occl
