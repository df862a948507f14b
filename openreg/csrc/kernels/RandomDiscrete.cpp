// Integers, coins and permutations; see docs/frontend/random.md.
#include "csrc/kernels/RandomDiscrete.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"

namespace openreg::cpu {
namespace {

using Words = const uint32_t*;
__extension__ using uint128 = unsigned __int128;

// In [0, range), for a range up to 2^64 - 1: the high half of a product of 128 bits.
// Unlike the remainder of a division, it treats small and large numbers alike.
uint64_t scale_to(uint64_t word, uint64_t range) {
  return static_cast<uint64_t>(uint128{word} * range >> 64);
}

// Every dtype that holds integers: also the unsigned ones that have few operators.
template <class Draw>
void draw_integers(const at::Tensor& self, PhiloxState random, Draw draw) {
  AT_DISPATCH_V2(self.scalar_type(), "random_", AT_WRAP([&] {
                   fill_tiles<scalar_t, 2>(
                       self, random, [=](Words words, int64_t count, scalar_t* values) {
                         for (int64_t i = 0; i < count; ++i) {
                           const uint64_t word = word64(words + 2 * i);
                           values[i] = draw.template operator()<scalar_t>(word);
                         }
                       });
                 }),
                 AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 at::kHalf, at::kBFloat16, at::kBool);
}

template <class T>
T coin(bool heads) {
  return static_cast<T>(heads ? 1 : 0);
}

// LITERALINCLUDE START: RANDOM_RANGE
// [0, largest value], and for floating point [0, 2^digits]: all integers up to there.
void draw_of_dtype(at::Tensor& self, PhiloxState random) {
  draw_integers(self, random, []<class T>(uint64_t word) {
    constexpr uint64_t kLargest = std::is_same_v<T, bool> ? 1
                                  : std::is_integral_v<T>
                                      ? uint64_t(std::numeric_limits<T>::max())
                                      : uint64_t{1} << std::numeric_limits<T>::digits;
    if constexpr (kLargest == std::numeric_limits<uint64_t>::max()) {
      return word;  // (1)
    } else {
      return static_cast<T>(static_cast<int64_t>(scale_to(word, kLargest + 1)));  // (2)
    }
  });
}
// LITERALINCLUDE END: RANDOM_RANGE

void draw_in_range(at::Tensor& self, PhiloxState random, uint64_t range, int64_t from) {
  draw_integers(self, random, [range, from]<class T>(uint64_t word) {
    const uint64_t value = scale_to(word, range) + static_cast<uint64_t>(from);
    return static_cast<T>(static_cast<int64_t>(value));
  });
}

void draw_64_bits(at::Tensor& self, PhiloxState random) {
  draw_integers(self, random, []<class T>(uint64_t word) {
    return static_cast<T>(static_cast<int64_t>(word));
  });
}

void draw_bernoulli(at::Tensor& self, PhiloxState random, double p) {
  AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bernoulli_", [&] {
        fill_tiles<scalar_t, 2>(
            self, random, [p](Words words, int64_t count, scalar_t* values) {
              for (int64_t i = 0; i < count; ++i) {
                values[i] = coin<scalar_t>(unit<double, double>(words + 2 * i) < p);
              }
            });
      });
}

void draw_bernoulli_tensor(at::Tensor& self, PhiloxState random, const at::Tensor& p) {
  AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bernoulli_", [&] {
        const Elements<scalar_t> to(self);
        const Elements<double> from(p);
        for_each_tile<2>(
            random, to.count(), [&](int64_t first, int64_t count, Words words) {
              std::array<double, kTileWords / 2> each;
              std::array<scalar_t, kTileWords / 2> values;
              from.read(first, count, each.data());
              for (int64_t i = 0; i < count; ++i) {
                values[i] =
                    coin<scalar_t>(unit<double, double>(words + 2 * i) < each[i]);
              }
              to.write(first, count, values.data());
            });
      });
}

void draw_geometric(at::Tensor& self, PhiloxState random, double p) {
  AT_DISPATCH_ALL_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "geometric_", [&] {
        const auto max = static_cast<double>(std::numeric_limits<scalar_t>::max());
        fill_tiles<scalar_t, 2>(
            self, random,
            [max, scale = 1 / std::log1p(-p)](Words words, int64_t count,
                                              scalar_t* values) {
              for (int64_t i = 0; i < count; ++i) {
                const double log = std::log(positive_unit<double>(words + 2 * i));
                const double throws = std::max(1.0, std::ceil(log * scale));
                values[i] = throws < max ? static_cast<scalar_t>(throws)
                                         : std::numeric_limits<scalar_t>::max();
              }
            });
      });
}

// Fisher and Yates: each place, from the first on, swaps with one of those that follow.
void draw_permutation(at::Tensor& self, PhiloxState random) {
  AT_DISPATCH_ALL_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "randperm", [&] {
        auto* data = static_cast<scalar_t*>(self.mutable_data_ptr());
        const int64_t n = self.numel();
        const int64_t stride = self.stride(0);
        for (int64_t i = 0; i < n; ++i) {
          data[i * stride] = static_cast<scalar_t>(i);
        }
        for (int64_t i = 0; i < n - 1; ++i) {
          const PhiloxBlock block =
              philox(random.seed, random.offset + static_cast<uint64_t>(i / 2), 0);
          const uint64_t word = word64(block.data() + 2 * (i % 2));
          const auto other = i + static_cast<int64_t>(scale_to(word, n - i));
          std::swap(data[i * stride], data[other * stride]);
        }
      });
}

}  // namespace
}  // namespace openreg::cpu

namespace openreg::kernels {

void random_of_dtype(const at::Tensor& self, PhiloxKernelState random) {
  cpu::launch("random_", cpu::draw_of_dtype, self, random);
}

void random_in_range(const at::Tensor& self, PhiloxKernelState random, uint64_t range,
                     int64_t from) {
  cpu::launch("random_", cpu::draw_in_range, self, random, range, from);
}

void random_of_64_bits(const at::Tensor& self, PhiloxKernelState random) {
  cpu::launch("random_", cpu::draw_64_bits, self, random);
}

void bernoulli(const at::Tensor& self, PhiloxKernelState random, double p) {
  cpu::launch("bernoulli_", cpu::draw_bernoulli, self, random, p);
}

void bernoulli_tensor(const at::Tensor& self, PhiloxKernelState random,
                      const at::Tensor& p) {
  cpu::launch("bernoulli_", cpu::draw_bernoulli_tensor, self, random, p);
}

void geometric(const at::Tensor& self, PhiloxKernelState random, double p) {
  cpu::launch("geometric_", cpu::draw_geometric, self, random, p);
}

void randperm(const at::Tensor& self, PhiloxKernelState random) {
  cpu::launch("randperm", cpu::draw_permutation, self, random);
}

}  // namespace openreg::kernels
