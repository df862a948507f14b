// What all random kernels share: which element uses which random bits; see
// docs/runtime/random-kernels.md.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/random/Philox.h"

namespace openreg::cpu {

// How many random numbers of 32 bits a kernel makes at a time.
constexpr int64_t kTileWords = 512;
constexpr int64_t kTilesPerThread = 32;  // fewer are not worth a thread

// Writes 4 * `blocks` words: those of the counters from `first` on.
void philox_words(PhiloxState state, uint64_t first, int64_t blocks, uint32_t* words);

// LITERALINCLUDE START: FOR_EACH_TILE
// Gives element i of a draw its random words: those from number kWords * i on, counted
// from the offset that the draw has reserved. Who computes which tile does not matter.
template <int kWords, class Tile>
void for_each_tile(PhiloxState state, int64_t elements, const Tile& tile) {
  constexpr int64_t kElements = kTileWords / kWords;
  const int64_t tiles = (elements + kElements - 1) / kElements;
  at::parallel_for(0, tiles, kTilesPerThread, [&](int64_t begin, int64_t end) {
    std::array<uint32_t, kTileWords> words;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first = index * kElements;  // (1)
      const int64_t count = std::min(kElements, elements - first);
      philox_words(state, static_cast<uint64_t>(index) * (kTileWords / 4),
                   static_cast<int64_t>(blocks_for(count, kWords)), words.data());
      tile(first, count, words.data());  // (2)
    }
  });
}
// LITERALINCLUDE END: FOR_EACH_TILE

// The elements of a device-side tensor in the order of their indices, whatever the
// strides: a transposed tensor gets the numbers that a contiguous one gets.
template <class T>
class Elements {
 public:
  explicit Elements(const at::Tensor& tensor)
      : data_(static_cast<T*>(tensor.unsafeGetTensorImpl()->mutable_data())),
        count_(tensor.numel()),
        contiguous_(tensor.is_contiguous()),
        sizes_(tensor.sizes()),
        strides_(tensor.strides()) {}

  int64_t count() const { return count_; }

  void read(int64_t first, int64_t count, T* values) const {
    if (contiguous_) {
      std::copy_n(data_ + first, count, values);
    } else {
      visit(first, count, [&](T& element) { *values++ = element; });
    }
  }

  void write(int64_t first, int64_t count, const T* values) const {
    if (contiguous_) {
      std::copy_n(values, count, data_ + first);
    } else {
      visit(first, count, [&](T& element) { element = *values++; });
    }
  }

 private:
  template <class Visit>
  void visit(int64_t first, int64_t count, Visit visit) const {
    std::vector<int64_t> index(sizes_.size());
    int64_t offset = 0;
    for (size_t dim = sizes_.size(); dim-- > 0; first /= sizes_[dim]) {
      index[dim] = first % sizes_[dim];
      offset += index[dim] * strides_[dim];
    }
    for (; count > 0; --count) {
      visit(data_[offset]);
      for (size_t dim = sizes_.size(); dim-- > 0;) {
        offset += strides_[dim];
        if (++index[dim] < sizes_[dim]) {
          break;
        }
        offset -= sizes_[dim] * strides_[dim];
        index[dim] = 0;
      }
    }
  }

  T* data_;
  int64_t count_;
  bool contiguous_;
  c10::DimVector sizes_;
  c10::DimVector strides_;
};

// Fills `self` with what `draw(words, count, values)` makes of the random words of
// `count` elements, kWords words each.
template <class T, int kWords, class Draw>
void fill_tiles(const at::Tensor& self, PhiloxState random, const Draw& draw) {
  const Elements<T> to(self);
  for_each_tile<kWords>(random, to.count(),
                        [&](int64_t first, int64_t count, const uint32_t* words) {
                          std::array<T, kTileWords / kWords> values;
                          draw(words, count, values.data());
                          to.write(first, count, values.data());
                        });
}

// -- random words to numbers --

template <class C>
constexpr int kWordsFor = sizeof(C) / sizeof(uint32_t);  // float 1, double 2

inline uint64_t word64(const uint32_t* words) {
  return uint64_t{words[1]} << 32 | words[0];
}

// In [0, 1), with as many random bits as T has digits: never rounds to 1, not even in
// half precision. C is the type to compute with.
template <class T, class C>
C unit(const uint32_t* words) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  if constexpr (std::is_same_v<C, double>) {
    return static_cast<C>(word64(words) >> (64 - kDigits)) *
           (C{1} / (uint64_t{1} << kDigits));
  } else {
    return static_cast<C>(static_cast<int32_t>(words[0] >> (32 - kDigits))) *
           (C{1} / (uint64_t{1} << kDigits));
  }
}

// In (0, 1], with small steps near 0: has a logarithm.
template <class C>
C positive_unit(const uint32_t* words) {
  if constexpr (std::is_same_v<C, double>) {
    return static_cast<C>(word64(words) >> 11) * 0x1p-53 + 0x1p-54;
  } else {
    return static_cast<C>(words[0]) * 0x1p-32f + 0x1p-33f;
  }
}

}  // namespace openreg::cpu
