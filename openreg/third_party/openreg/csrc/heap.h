// The free list of one device's memory, in offsets. See docs/start/architecture.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace openreg::driver {

class Heap {
 public:
  static constexpr size_t kAlignment = 512;

  explicit Heap(size_t capacity);

  struct Range {
    size_t offset;
    size_t size;
  };

  // The smallest free block that is large enough, or nothing.
  std::optional<size_t> allocate(size_t size);
  // Nothing when no allocation starts at `offset`; else the requested size.
  std::optional<size_t> sizeAt(size_t offset) const;
  // `offset` must be the start of an allocation. The result is a free range whose pages
  // should go back to the system now, if any.
  std::optional<Range> release(size_t offset);
  // The allocation that holds `offset`, if any.
  std::optional<Range> find(size_t offset) const;

  size_t freeBytes() const { return freeBytes_; }
  size_t largestFree() const;

 private:
  // Touching a page for the first time costs far more than all the rest of an
  // allocation, so the process keeps freed pages and reuses them. `touched` is an upper
  // bound of how many bytes of the block have such pages. When the free blocks of the
  // device hold more than keep_ of them together, the pages of the block that was freed
  // last are released.
  struct Block {
    size_t size;
    size_t touched;
  };

  void addFree(size_t offset, Block block);
  Block takeFree(std::map<size_t, Block>::iterator block);

  std::map<size_t, size_t> live_;              // offset -> requested bytes
  std::map<size_t, Block> free_;               // offset -> block; no two are neighbors
  std::set<std::pair<size_t, size_t>> sizes_;  // (size, offset) of the free blocks
  const size_t keep_;
  size_t freeBytes_ = 0;
  size_t touchedBytes_ = 0;  // sum over the free blocks
};

}  // namespace openreg::driver
