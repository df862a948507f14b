// Cached memory of one kind: best fit, split, merge; see docs/runtime/memory.md.
#include "csrc/runtime/memory/BlockPool.h"

#include <c10/core/AllocatorConfig.h>

#include <algorithm>

namespace openreg {

void BlockPool::insert(Block* block) {
  if (block->is_split()) {
    increase(stats_.inactive_split, small, 1);
    increase(stats_.inactive_split_bytes, small, block->size);
  }
  free_.insert(block);
}

void BlockPool::remove(Block* block) {
  if (block->is_split()) {
    decrease(stats_.inactive_split, small, 1);
    decrease(stats_.inactive_split_bytes, small, block->size);
  }
  free_.erase(block);
}

// LITERALINCLUDE START: TAKE
Block* BlockPool::get_free_block(c10::StreamId stream, const AllocParams& fit) {
  searches += 1;
  const auto best = free_.lower_bound(Key{stream, fit.size, nullptr});  // (1)
  if (best == free_.end() || (*best)->stream.id() != stream) {
    return nullptr;
  }
  Block* block = *best;
  const bool oversize = block->size >= fit.max_split_size;
  if (oversize && (fit.size < fit.max_split_size ||  // (2)
                   block->size - fit.size >= fit.max_rounding)) {
    return nullptr;
  }
  remove(block);
  split_block(block, fit);  // (3)
  return block;
}
// LITERALINCLUDE END: TAKE

// LITERALINCLUDE START: SPLIT
void BlockPool::split_block(Block* block, const AllocParams& fit) {
  const size_t rest = block->size - fit.size;
  const bool keep =
      small ? rest >= c10::CachingAllocator::kMinBlockSize
            : fit.size < fit.max_split_size && rest > c10::CachingAllocator::kSmallSize;
  if (!keep) {  // (1)
    return;
  }
  auto* tail = new Block{static_cast<std::byte*>(block->ptr) + fit.size, rest,  // (2)
                         block->stream, this};
  tail->cached_at = block->cached_at;
  tail->previous = block;
  tail->next = block->next;
  if (tail->next != nullptr) {
    tail->next->previous = tail;
  }
  block->next = tail;
  block->size = fit.size;
  insert(tail);
}
// LITERALINCLUDE END: SPLIT

// LITERALINCLUDE START: PUT
void BlockPool::free_block(Block* block) {
  const auto is_free = [](const Block* neighbor) {
    return neighbor != nullptr && !neighbor->allocated && neighbor->event_count == 0;
  };
  const auto absorb_next = [](Block* left) {
    Block* right = left->next;
    left->size += right->size;
    left->next = right->next;
    if (left->next != nullptr) {
      left->next->previous = left;
    }
    delete right;
  };
  if (is_free(block->next)) {  // (1)
    remove(block->next);
    absorb_next(block);
  }
  if (is_free(block->previous)) {
    block = block->previous;
    remove(block);
    absorb_next(block);
  }
  block->cached_at = searches;
  insert(block);  // (2)
}
// LITERALINCLUDE END: PUT

std::vector<Block*> BlockPool::idle() const {
  std::vector<Block*> blocks;
  std::copy_if(free_.begin(), free_.end(), std::back_inserter(blocks),
               [](const Block* block) { return !block->is_split(); });
  std::sort(blocks.begin(), blocks.end(),
            [](const Block* a, const Block* b) { return a->size < b->size; });
  return blocks;
}

}  // namespace openreg
