// Collectives through memory that all ranks share; see docs/modules/distributed.md.
#include "occl_collectives.h"

#include <algorithm>
#include <cstring>

namespace openreg::occl {
namespace {

constexpr size_t kPageBytes = SharedMemoryRendezvous::kPage;

// So that no number lies on two pages.
size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// Calls `use(skipped, count, place)` if a range and a chunk overlap: `count` bytes,
// which begin `skipped` bytes into the range and `place` bytes into the chunk.
template <class Use>
void overlap(size_t offset, size_t bytes, size_t first, size_t room, const Use& use) {
  const size_t from = std::max(first, offset);
  const size_t to = std::min(first + room, offset + bytes);
  if (from < to) use(from - offset, to - from, from - first);
}

}  // namespace

void SharedMemoryCollectives::run(const Operation& operation) {
  const std::lock_guard lock(memory_.mutex);
  const auto timeout = operation.timeout;
  auto head = std::as_bytes(std::span(&operation.head, 1));
  bool any_messages = false;
  const auto opened = [&] {
    std::vector<Head> heads(memory_.size());
    for (int rank = 0; rank < memory_.size(); ++rank) {
      std::memcpy(&heads[rank], memory_.of(rank), sizeof(Head));
      any_messages |= heads[rank].messages != 0;
    }
    verify(heads);
  };
  for (const Call& call : operation.calls) {
    const bool aligned =
        std::ranges::all_of(ends_, [&](size_t end) { return end == ends_.front(); });
    if (call.reduces() && !aligned) {  // a reduction needs one place for all shares
      head.empty() ? carry({}, timeout) : carry(head, timeout, opened);
      head = {};
      clear();
    }
    add(call);
  }
  head.empty() ? carry({}, timeout) : carry(head, timeout, opened);
  if (any_messages) exchange(operation.calls, timeout);
}

// LITERALINCLUDE START: SHM_CARRY
void SharedMemoryCollectives::carry(std::span<const std::byte> head,
                                    Milliseconds timeout,
                                    const std::function<void()>& opened) {
  size_t at = head.size();
  for (size_t first = 0, room; first == 0 || first < std::ranges::max(ends_);
       first += room) {
    room = kPageBytes - at;
    if (at > 0) std::memcpy(memory_.mine(), head.data(), at);
    for (const Part& part : parts_) {
      overlap(part.offset, part.bytes, first, room,
              [&](size_t skipped, size_t count, size_t place) {
                std::memcpy(memory_.mine() + at + place, part.data + skipped, count);
              });
    }
    memory_.meet(timeout);     // (1)
    if (first == 0) opened();  // (2)
    for (const ChunkConsumer& consumer : consumers_) {
      consume(consumer, first, room, at);  // (3)
    }
    at = 0;
  }
}
// LITERALINCLUDE END: SHM_CARRY

void SharedMemoryCollectives::consume(const ChunkConsumer& consumer, size_t first,
                                      size_t room, size_t at) {
  overlap(consumer.offset, consumer.bytes, first, room,
          [&](size_t skipped, size_t count, size_t place) {
            std::byte* to = consumer.to + skipped;
            if (consumer.rank != ChunkConsumer::kAllRanks) {
              std::memcpy(to, memory_.of(consumer.rank) + at + place, count);
              return;
            }
            std::vector<const std::byte*> chunks(memory_.size());
            for (int rank = 0; rank < memory_.size(); ++rank) {
              chunks[rank] = memory_.of(rank) + at + place;
            }
            reduce(consumer.dtype, consumer.op, to, chunks, count);
          });
}

void SharedMemoryCollectives::add(const Call& call) {
  const int me = memory_.rank();
  const size_t bytes = call.bytes();
  if (call.is_message() || call.kind == Call::kVerify) return;
  if (call.kind == Call::kBroadcast) {
    size_t& end = ends_[call.peer];
    if (me != call.peer || call.recv != call.send) {
      consumers_.push_back({call.peer, end, bytes, call.recv});
    }
    if (me == call.peer) contribute(call.send, bytes);
    end += padded(bytes);
    return;
  }
  if (call.kind == Call::kAllGather) {
    for (int rank = 0; rank < memory_.size(); ++rank) {
      std::byte* to = call.recv + rank * bytes;
      if (to != call.send) consumers_.push_back({rank, ends_[rank], bytes, to});
    }
  } else if (call.kind != Call::kReduce || me == call.peer) {
    const bool scatters = call.kind == Call::kReduceScatter;
    consumers_.push_back({ChunkConsumer::kAllRanks,
                          ends_[me] + (scatters ? me * bytes : 0), bytes, call.recv,
                          call.dtype, call.op});
  }
  const size_t given = bytes * (call.kind == Call::kReduceScatter ? memory_.size() : 1);
  contribute(call.send, given);
  for (size_t& end : ends_) end += padded(given);
}

void SharedMemoryCollectives::contribute(const std::byte* data, size_t bytes) {
  parts_.push_back({data, bytes, ends_[memory_.rank()]});
}

void SharedMemoryCollectives::clear() {
  parts_.clear();
  consumers_.clear();
  std::ranges::fill(ends_, 0);
}

// Messages of a group in which all ranks take part. The head is a table of how much
// each rank sends to each other one, so that every rank finds where its bytes are.
void SharedMemoryCollectives::exchange(const std::vector<Call>& calls,
                                       Milliseconds timeout) {
  clear();
  const auto size = static_cast<size_t>(memory_.size());
  const auto me = static_cast<size_t>(memory_.rank());
  const std::vector<uint64_t> row = bytes_of_messages(calls, size);
  size_t end = 0;
  for (size_t to = 0; to < size; ++to) {
    for (const Call& call : calls) {
      if (call.kind != Call::kSend || call.peer != static_cast<int>(to)) continue;
      parts_.push_back({call.send, call.bytes(), end});
      end += call.bytes();
    }
  }
  carry(std::as_bytes(std::span(row)), timeout, [&] {
    std::vector<uint64_t> table(size * row.size());
    for (size_t rank = 0; rank < size; ++rank) {
      std::memcpy(&table[rank * row.size()], memory_.of(static_cast<int>(rank)),
                  row.size() * sizeof(uint64_t));
    }
    verify_messages(table, size);
    for (size_t from = 0; from < size; ++from) {
      const uint64_t* sends = &table[from * row.size()];
      size_t offset = 0;
      for (size_t to = 0; to < size; ++to) {
        if (to == me) {
          size_t start = offset;
          for (const Call& call : calls) {
            if (call.kind != Call::kRecv || call.peer != static_cast<int>(from)) {
              continue;
            }
            consumers_.push_back({call.peer, start, call.bytes(), call.recv});
            start += call.bytes();
          }
        }
        offset += sends[to];
      }
      ends_[from] = offset;
    }
  });
}

}  // namespace openreg::occl
