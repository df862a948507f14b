// Cached memory of one kind: best fit, split, merge; see docs/runtime/memory.md.
#pragma once

#include <c10/core/Stream.h>

#include <memory>
#include <set>
#include <vector>

#include "csrc/runtime/memory/AllocatorStats.h"

namespace openreg {

class BlockPool;

// A piece of a segment. A segment is what one call of the driver's orMalloc returned;
// its blocks form a list, in the order of their addresses.
struct Block {
  void* ptr;
  size_t size;                // bytes, rounded up
  c10::Stream stream;         // on which it was allocated, and on which it is reused
  BlockPool* pool;            // to which it returns
  size_t requested = 0;       // bytes that were requested
  Block* previous = nullptr;  // neighbors in the segment
  Block* next = nullptr;
  bool allocated = false;         // a tensor has it
  bool oversize = false;          // counted in oversize_allocations
  bool oversize_segment = false;  // the first of its segment: in oversize_segments
  int event_count = 0;     // events that other streams must pass before it is reused
  uint64_t cached_at = 0;  // the pool's `searches` when it was put back
  std::vector<c10::Stream> stream_uses{};  // other streams, told by record_stream
  std::shared_ptr<c10::GatheredContext> context{};  // who allocated it, if recorded

  // Only a segment in one piece can be returned to the driver.
  bool is_split() const { return previous != nullptr || next != nullptr; }
};

// What a request allows the pool to do. The numbers come from PYTORCH_ALLOC_CONF.
struct AllocParams {
  size_t size;
  size_t max_split_size;  // blocks of this size and larger are "oversize": never split
  size_t max_rounding;    // an oversize block may be this much larger than the request
};

// Free blocks of one device that are small, or large; of all streams. Counts those
// which are split ("inactive_split"). Not thread safe: the owner has a lock.
class BlockPool {
 public:
  BlockPool(bool small, c10::MempoolId_t owner, DeviceStats& stats)
      : small(small), owner(owner), stats_(stats) {}

  // The smallest free block of `stream` that fits, split if the remainder is large
  // enough. Null if there is none.
  Block* get_free_block(c10::StreamId stream, const AllocParams& fit);
  // Splits `block`, which is not free, if the remainder is large enough.
  void split_block(Block* block, const AllocParams& fit);
  // Makes `block` free, in one piece with its free neighbors; deletes these.
  void free_block(Block* block);

  // Adds a free block, or removes one, as it is.
  void insert(Block* block);
  void remove(Block* block);

  // Free blocks that are whole segments, smallest first.
  std::vector<Block*> idle() const;

  const bool small;
  const c10::MempoolId_t owner;  // {0, 0}: everybody's
  uint64_t searches = 0;

 private:
  struct Key {
    c10::StreamId stream;
    size_t size;
    const void* ptr;
    auto operator<=>(const Key&) const = default;
  };
  struct ByFit {
    using is_transparent = void;
    static Key key(const Block* b) { return {b->stream.id(), b->size, b->ptr}; }
    static Key key(const Key& k) { return k; }
    bool operator()(const auto& a, const auto& b) const { return key(a) < key(b); }
  };

  std::set<Block*, ByFit> free_;
  DeviceStats& stats_;
};

}  // namespace openreg
