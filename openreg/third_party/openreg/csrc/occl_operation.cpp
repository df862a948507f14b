// What a kernel of OCCL does: the calls of a group; see docs/modules/distributed.md.
#include "occl_operation.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "occl_failure.h"

namespace openreg::occl {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3u + (hash >> 29);
}

}  // namespace

std::string Call::describe() const {
  const std::string amount = joined(count, " ", name_of(dtype));
  switch (kind) {
    case kAllReduce:
      return joined(name_of(op), " of ", amount);
    case kReduce:
      return joined(name_of(op), " of ", amount, " to rank ", peer);
    case kBroadcast:
      return joined(amount, " from rank ", peer);
    case kAllGather:
      return joined(amount, " of each rank");
    case kReduceScatter:
      return joined(name_of(op), " of ", amount, " for each rank");
    default:
      return text;
  }
}

CollectiveFingerprint::CollectiveFingerprint(uint64_t number, const char* name,
                                             const std::vector<Call>& calls) {
  int described = 0;
  size_t length = 0;
  const auto append = [&](const std::string& part) {
    const size_t room = sizeof text - 1 - length;
    std::memcpy(text + length, part.data(), std::min(room, part.size()));
    length += std::min(room, part.size());
  };
  append(joined("#", number, " ", name));
  hash = mixed(number, 0);
  for (const Call& call : calls) {
    if (call.is_message()) continue;  // verify_messages() compares those
    const std::string words = call.describe();
    if (!words.empty() && described++ < 2) {
      append((described == 1 ? ": " : ", ") + words);
    }
    hash = mixed(hash, call.kind);
    for (const char letter : words) hash = mixed(hash, letter);
  }
  if (described > 2) append(joined(", and ", described - 2, " more"));
}

// LITERALINCLUDE START: OCCL_VERIFY
void verify(const std::vector<Head>& heads) {
  const bool same = std::ranges::all_of(heads, [&](const Head& head) {
    return head.fingerprint == heads[0].fingerprint;
  });
  if (same) return;
  std::string said;
  for (size_t rank = 0; rank < heads.size(); ++rank) {
    said += joined("\n  rank ", rank, ": ", heads[rank].fingerprint.text);
  }
  throw Failure(occlInvalidUsage, "the calls of the ranks do not match:" + said);
}
// LITERALINCLUDE END: OCCL_VERIFY

bool CollectiveFingerprint::operator==(const CollectiveFingerprint& other) const {
  return hash == other.hash && std::memcmp(text, other.text, sizeof text) == 0;
}

void verify_messages(const std::vector<uint64_t>& table, size_t ranks) {
  for (size_t from = 0; from < ranks; ++from) {
    for (size_t to = 0; to < ranks; ++to) {
      const uint64_t sends = table[from * 2 * ranks + to];
      const uint64_t expects = table[to * 2 * ranks + ranks + from];
      if (sends == expects) continue;
      throw Failure(occlInvalidUsage,
                    joined("rank ", from, " sends ", sends, " bytes to rank ", to,
                           ", which expects ", expects));
    }
  }
}

std::vector<uint64_t> bytes_of_messages(const std::vector<Call>& calls, size_t ranks) {
  std::vector<uint64_t> row(2 * ranks);
  for (const Call& call : calls) {
    if (!call.is_message()) continue;
    row[call.peer + (call.kind == Call::kRecv ? ranks : 0)] += call.bytes();
  }
  return row;
}

}  // namespace openreg::occl
