// The free list of one device's memory: best fit. See docs/start/architecture.md.
#include "heap.h"

#include <algorithm>
#include <iterator>

namespace openreg::driver {
namespace {

size_t roundUp(size_t size) {
  return (size + Heap::kAlignment - 1) & ~(Heap::kAlignment - 1);
}

}  // namespace

// Keeps a sixteenth: 512 MiB of the 8 GiB that a device has by default.
Heap::Heap(size_t capacity) : keep_(capacity / 16) { addFree(0, {capacity, 0}); }

void Heap::addFree(size_t offset, Block block) {
  free_.emplace(offset, block);
  sizes_.emplace(block.size, offset);
  freeBytes_ += block.size;
  touchedBytes_ += block.touched;
}

Heap::Block Heap::takeFree(std::map<size_t, Block>::iterator at) {
  auto [offset, block] = *at;
  sizes_.erase({block.size, offset});
  free_.erase(at);
  freeBytes_ -= block.size;
  touchedBytes_ -= block.touched;
  return block;
}

std::optional<size_t> Heap::allocate(size_t size) {
  if (size > freeBytes_) return {};  // also keeps roundUp() from wrapping around
  size_t rounded = roundUp(size);
  auto fit = sizes_.lower_bound({rounded, 0});
  if (fit == sizes_.end()) return {};
  size_t offset = fit->second;
  Block block = takeFree(free_.find(offset));
  live_.emplace(offset, size);
  if (size_t rest = block.size - rounded) {
    addFree(offset + rounded, {rest, std::min(block.touched, rest)});
  }
  return offset;
}

std::optional<size_t> Heap::sizeAt(size_t offset) const {
  auto at = live_.find(offset);
  if (at == live_.end()) return {};
  return at->second;
}

std::optional<Heap::Range> Heap::release(size_t offset) {
  auto at = live_.find(offset);
  size_t size = roundUp(at->second);
  live_.erase(at);
  Block block{size, size};
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    Block merged = takeFree(next++);
    block = {block.size + merged.size, block.touched + merged.touched};
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.size == offset) {
      offset = previous->first;
      Block merged = takeFree(previous);
      block = {block.size + merged.size, block.touched + merged.touched};
    }
  }
  bool giveBack = touchedBytes_ + block.touched > keep_;
  if (giveBack) block.touched = 0;
  addFree(offset, block);
  if (!giveBack) return {};
  return Range{offset, block.size};
}

std::optional<Heap::Range> Heap::find(size_t offset) const {
  auto after = live_.upper_bound(offset);
  if (after == live_.begin()) return {};
  auto [start, size] = *std::prev(after);
  if (offset - start >= size) return {};
  return Range{start, size};
}

size_t Heap::largestFree() const { return sizes_.empty() ? 0 : sizes_.rbegin()->first; }

}  // namespace openreg::driver
