// Integers, coins and permutations; see docs/frontend/random.md.
#include <ATen/Dispatch_v2.h>
#include <ATen/native/DistributionTemplates.h>
#include <ATen/native/TensorFactories.h>
#include <c10/util/BFloat16-math.h>

#include <cmath>
#include <numeric>

#include "csrc/aten/native/DeviceCheck.h"
#include "csrc/aten/native/Random.h"
#include "csrc/aten/native/RandomKernel.h"

namespace openreg {
namespace {

namespace templates = at::native::templates;
using Words = const uint32_t*;
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// In [0, range), for a range up to 2^64 - 1: the high half of a product of 128 bits.
// Unlike the remainder of a division, it treats small and large numbers alike.
uint64_t scale_to(uint64_t word, uint64_t range) {
  return static_cast<uint64_t>(uint128{word} * range >> 64);
}

// Every dtype that holds integers: also the unsigned ones that have few operators.
template <class Draw>
void fill_integers(const at::Tensor& self, const OptionalGenerator& generator,
                   Draw draw) {
  AT_DISPATCH_V2(self.scalar_type(), "random_", AT_WRAP([&] {
                   fill_random<scalar_t, 2>(
                       "random_", self, generator,
                       [=](Words words, int64_t count, scalar_t* values) {
                         for (int64_t i = 0; i < count; ++i) {
                           const uint64_t word = word64(words + 2 * i);
                           values[i] = draw.template operator()<scalar_t>(word);
                         }
                       });
                 }),
                 AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 at::kHalf, at::kBFloat16, at::kBool);
}

// LITERALINCLUDE START: RANDOM_RANGE
// [0, largest value], and for floating point [0, 2^digits]: all integers up to there.
template <class RNG>
struct Random {
  void operator()(at::TensorIteratorBase& iter, const OptionalGenerator& generator) {
    fill_integers(iter.tensor(0), generator, []<class T>(uint64_t word) {
      constexpr uint64_t kLargest = std::is_same_v<T, bool> ? 1
                                    : std::is_integral_v<T>
                                        ? uint64_t(std::numeric_limits<T>::max())
                                        : uint64_t{1} << std::numeric_limits<T>::digits;
      if constexpr (kLargest == std::numeric_limits<uint64_t>::max()) {
        return word;  // there are 2^64 numbers, which no uint64_t can count
      } else {
        return static_cast<T>(static_cast<int64_t>(scale_to(word, kLargest + 1)));
      }
    });
  }
};
// LITERALINCLUDE END: RANDOM_RANGE

template <class RNG>
struct RandomFromTo {
  void operator()(at::TensorIteratorBase& iter, uint64_t range, int64_t from,
                  const OptionalGenerator& generator) {
    fill_integers(iter.tensor(0), generator, [range, from]<class T>(uint64_t word) {
      const uint64_t value = scale_to(word, range) + static_cast<uint64_t>(from);
      return static_cast<T>(static_cast<int64_t>(value));
    });
  }
  // From the smallest int64 to the largest.
  void operator()(at::TensorIteratorBase& iter, const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    AT_DISPATCH_ALL_TYPES_AND(
        at::kBFloat16, self.scalar_type(), "random_full_64_bits_range_kernel", [&] {
          constexpr bool kTaken =
              std::is_same_v<scalar_t, int64_t> || std::is_same_v<scalar_t, double> ||
              std::is_same_v<scalar_t, float> || std::is_same_v<scalar_t, at::BFloat16>;
          TORCH_CHECK(kTaken,
                      "random_full_64_bits_range_kernel handles only int64, double, "
                      "float and bfloat16");
        });
    fill_integers(self, generator, []<class T>(uint64_t word) {
      return static_cast<T>(static_cast<int64_t>(word));
    });
  }
};

// What update_from() and update_to() of DistributionTemplates.h do. Theirs overflow at
// the ends of int64: then the CPU draws numbers outside of the range, or never returns.
// LITERALINCLUDE START: FLOAT_RANGE
// The first integer from `from` on that does not fall below it when it becomes a T.
template <class T>
int64_t first_of_range(int64_t from) {
  const auto number = static_cast<T>(from);
  const auto value = static_cast<double>(number);
  if (!std::isfinite(value) || int128(value) >= from) {
    return from;
  }
  const T next = std::nextafter(number, std::numeric_limits<T>::infinity());
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(
      std::min(int128(static_cast<double>(next)), int128{kMax}));
}

// Where to stop before `to`: no smaller integer reaches `to` when it becomes a T.
template <class T>
int64_t end_of_range(int64_t to) {
  const auto number = static_cast<T>(to - 1);
  const auto value = static_cast<double>(number);
  if (!std::isfinite(value) || int128(value) < to) {
    return to;
  }
  const T last = std::nextafter(number, -std::numeric_limits<T>::infinity());
  return static_cast<int64_t>(static_cast<double>(last));
}
// LITERALINCLUDE END: FLOAT_RANGE

// random_from_to_impl() of DistributionTemplates.h for floating point.
at::Tensor& random_floats(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                          const OptionalGenerator& generator) {
  auto iter = at::TensorIterator::borrowing_nullary_op(self);
  int64_t last = 0;
  TORCH_CHECK(!to || from < *to,
              "random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to.value_or(0));
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "random_update_from_to", [&] {
        from = first_of_range<scalar_t>(from);
        if (to) {
          to = end_of_range<scalar_t>(*to);
          TORCH_CHECK(from < *to,
                      "random_ expects 'from' casted to dtype to be less than 'to' "
                      "casted to dtype, but got from=",
                      from, " >= to=", *to);
          last = *to - 1;
        } else {
          last = int64_t{1} << std::numeric_limits<scalar_t>::digits;
          TORCH_CHECK(from < last,
                      "random_ expects 'from' casted to dtype to be less than or equal "
                      "to 'to_inc' casted to dtype, but got from=",
                      from, " > to_inc=", last);
        }
      });
  templates::check_from_to_in_range(from, last, self.dtype());
  if (self.numel() > 0) {
    const uint64_t range =
        static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
    RandomFromTo<OpenRegGeneratorImpl>()(iter, range, from, generator);
  }
  return self;
}

template <class T>
T coin(bool heads) {
  return static_cast<T>(heads ? 1 : 0);
}

template <class RNG>
struct BernoulliFloat {
  void operator()(const at::Tensor& self, double p,
                  const OptionalGenerator& generator) {
    AT_DISPATCH_ALL_TYPES_AND3(
        at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bernoulli_", [&] {
          fill_random<scalar_t, 2>(
              "bernoulli_", self, generator,
              [p](Words words, int64_t count, scalar_t* values) {
                for (int64_t i = 0; i < count; ++i) {
                  values[i] = coin<scalar_t>(unit<double, double>(words + 2 * i) < p);
                }
              });
        });
  }
};

template <class RNG>
struct BernoulliTensor {
  void operator()(const at::Tensor& self, const at::Tensor& p,
                  const OptionalGenerator& generator) {
    TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(p.scalar_type()),
                                "\"bernoulli_\" not implemented for probabilities of '",
                                p.scalar_type(), "'");
    const at::Tensor wide =
        p.to(self.options().dtype(at::kDouble)).expand(self.sizes());
    TORCH_CHECK(all_elements(wide, [](double each) { return each >= 0 && each <= 1; }),
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli_ "
                "expects all probabilities to be in [0, 1]");
    AT_DISPATCH_ALL_TYPES_AND3(
        at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bernoulli_", [&] {
          const KernelTensor out(self);
          const auto in = KernelTensor::input(wide);  // `p` itself, if it is double
          const PhiloxSource random =
              reserve(generator, self.device().index(), blocks_for(self.numel(), 2));
          launch("bernoulli_", self.device(), [out, in, random] {
            const Elements<scalar_t> to(out.on_device());
            const Elements<double> from(in.on_device());
            for_each_tile<2>(random.state(), to.count(),
                             [&](int64_t first, int64_t count, Words words) {
                               std::array<double, kTileWords / 2> each;
                               std::array<scalar_t, kTileWords / 2> values;
                               from.read(first, count, each.data());
                               for (int64_t i = 0; i < count; ++i) {
                                 values[i] = coin<scalar_t>(
                                     unit<double, double>(words + 2 * i) < each[i]);
                               }
                               to.write(first, count, values.data());
                             });
          });
        });
  }
};

// The number of throws up to the first head: at least 1.
template <class RNG>
struct Geometric {
  void operator()(at::TensorIteratorBase& iter, double p,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    AT_DISPATCH_ALL_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "geometric_", [&] {
          const auto max = static_cast<double>(std::numeric_limits<scalar_t>::max());
          fill_random<scalar_t, 2>(
              "geometric_", self, generator,
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
};

}  // namespace

at::Tensor& random_(at::Tensor& self, OptionalGenerator generator) {
  return templates::random_impl<Random, OpenRegGeneratorImpl>(self, generator);
}

at::Tensor& random_from_(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                         OptionalGenerator generator) {
  const bool all_bits = !to && from == std::numeric_limits<int64_t>::lowest();
  if (at::isFloatingType(self.scalar_type()) && !all_bits) {
    return random_floats(self, from, to, generator);
  }
  return templates::random_from_to_impl<RandomFromTo, OpenRegGeneratorImpl>(
      self, from, to, generator);
}

at::Tensor& random_to_(at::Tensor& self, int64_t to, OptionalGenerator generator) {
  return random_from_(self, 0, to, generator);
}

at::Tensor& bernoulli_float_(at::Tensor& self, double p, OptionalGenerator generator) {
  return templates::bernoulli_impl_<BernoulliFloat, OpenRegGeneratorImpl>(self, p,
                                                                          generator);
}

at::Tensor& bernoulli_tensor_(at::Tensor& self, const at::Tensor& p,
                              OptionalGenerator generator) {
  return templates::bernoulli_impl_<BernoulliTensor, OpenRegGeneratorImpl>(self, p,
                                                                           generator);
}

at::Tensor& bernoulli_out(const at::Tensor& p, OptionalGenerator generator,
                          at::Tensor& out) {
  return templates::bernoulli_out_impl<BernoulliTensor, OpenRegGeneratorImpl>(
      out, p, generator);
}

at::Tensor& geometric_(at::Tensor& self, double p, OptionalGenerator generator) {
  return templates::geometric_impl_<Geometric, OpenRegGeneratorImpl>(self, p,
                                                                     generator);
}

// Fisher and Yates: each place, from the first on, swaps with one of those that follow.
at::Tensor& randperm_out(int64_t n, OptionalGenerator generator, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  at::native::check_supported_max_int_with_precision(n, out);
  out.resize_({n});
  if (n == 0) {
    return out;
  }
  at::assert_no_internal_overlap(out);
  AT_DISPATCH_ALL_TYPES_AND2(
      at::kHalf, at::kBFloat16, out.scalar_type(), "randperm", [&] {
        const KernelTensor result(out);
        const PhiloxSource random =
            reserve(generator, out.device().index(), blocks_for(n, 2));
        launch("randperm", out.device(), [result, random, n] {
          const PhiloxState state = random.state();
          const at::Tensor to = result.on_device();
          auto* data = static_cast<scalar_t*>(to.mutable_data_ptr());
          const int64_t stride = to.stride(0);
          for (int64_t i = 0; i < n; ++i) {
            data[i * stride] = static_cast<scalar_t>(i);
          }
          for (int64_t i = 0; i < n - 1; ++i) {
            const PhiloxBlock block =
                philox(state.seed, state.offset + static_cast<uint64_t>(i / 2), 0);
            const uint64_t word = word64(block.data() + 2 * (i % 2));
            const auto other = i + static_cast<int64_t>(scale_to(word, n - i));
            std::swap(data[i * stride], data[other * stride]);
          }
        });
      });
  return out;
}

}  // namespace openreg
