// Integers, coins and permutations; see docs/frontend/random.md.
#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DistributionTemplates.h>
#include <ATen/native/TensorFactories.h>
#include <c10/util/BFloat16-math.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "csrc/aten/host/RandomFill.h"
#include "csrc/aten/ops/ValueCheck.h"
#include "csrc/kernels/RandomDiscrete.h"

namespace openreg {
namespace {

using OptionalGenerator = std::optional<at::Generator>;

namespace templates = at::native::templates;
__extension__ using int128 = __int128;

// Integers take two random words each, in every dtype that holds integers: also in the
// unsigned ones that have few operators.
template <class... Args>
void fill_integers(const at::Tensor& self, const OptionalGenerator& generator,
                   void (*kernel)(const at::Tensor&, PhiloxKernelState, Args...),
                   std::type_identity_t<Args>... args) {
  const at::ScalarType dtype = self.scalar_type();
  check_random_dtype("random_", self,
                     is_random_floating(dtype) || at::isIntegralType(dtype, true));
  fill_random(self, generator, /*words=*/2, kernel, args...);
}

template <class RNG>
struct Random {
  void operator()(at::TensorIteratorBase& iter, const OptionalGenerator& generator) {
    fill_integers(iter.tensor(0), generator, kernels::random_of_dtype);
  }
};

template <class RNG>
struct RandomFromTo {
  void operator()(at::TensorIteratorBase& iter, uint64_t range, int64_t from,
                  const OptionalGenerator& generator) {
    fill_integers(iter.tensor(0), generator, kernels::random_in_range, range, from);
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
    fill_integers(self, generator, kernels::random_of_64_bits);
  }
};

// Like update_from() and update_to() of DistributionTemplates.h, which overflow at the
// ends of int64. The CPU then draws numbers outside of the range, or never returns.
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

// Throws unless bernoulli_ has a kernel for the dtype of `self`.
void check_coins(const at::Tensor& self) {
  const at::ScalarType dtype = self.scalar_type();
  check_random_dtype("bernoulli_", self, is_random_number(dtype) || dtype == at::kBool);
}

template <class RNG>
struct BernoulliFloat {
  void operator()(const at::Tensor& self, double p,
                  const OptionalGenerator& generator) {
    check_coins(self);
    fill_random(self, generator, /*words=*/2, kernels::bernoulli, p);
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
    TORCH_CHECK(all_elements(wide, ValueRange::Probability),
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli_ "
                "expects all probabilities to be in [0, 1]");
    check_coins(self);
    fill_random(self, generator, /*words=*/2, kernels::bernoulli_tensor, wide);
  }
};

template <class RNG>
struct Geometric {
  void operator()(at::TensorIteratorBase& iter, double p,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    check_random_dtype("geometric_", self, is_random_number(self.scalar_type()));
    fill_random(self, generator, /*words=*/2, kernels::geometric, p);
  }
};

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

at::Tensor& randperm_out(int64_t n, OptionalGenerator generator, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  at::native::check_supported_max_int_with_precision(n, out);
  out.resize_({n});
  if (n == 0) {
    return out;
  }
  at::assert_no_internal_overlap(out);
  check_random_dtype("randperm", out, is_random_number(out.scalar_type()));
  fill_random(out, generator, /*words=*/2, kernels::randperm);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("random_", random_);
  m.impl("random_.from", random_from_);
  m.impl("random_.to", random_to_);
  m.impl("bernoulli_.float", bernoulli_float_);
  m.impl("bernoulli_.Tensor", bernoulli_tensor_);
  m.impl("bernoulli.out", bernoulli_out);
  m.impl("geometric_", geometric_);
  m.impl("randperm.generator_out", randperm_out);
}

}  // namespace
}  // namespace openreg
