// Uniform, normal and what follows from them; see docs/frontend/random.md.
#include <ATen/OpMathType.h>
#include <ATen/native/DistributionTemplates.h>
#include <c10/util/BFloat16-math.h>
#include <c10/util/MathConstants.h>

#include <cmath>

#include "csrc/aten/native/BoxMuller.h"
#include "csrc/aten/native/Random.h"
#include "csrc/aten/native/RandomKernel.h"

namespace openreg {
namespace {

namespace templates = at::native::templates;
using Words = const uint32_t*;

// The value as T, which can hold less: never 0 or infinite because of that.
template <class T, class C>
T keep_finite_and_nonzero(C value) {
  const auto max = static_cast<C>(std::numeric_limits<T>::max());
  const auto min = static_cast<C>(std::numeric_limits<T>::denorm_min());
  const C size = std::abs(value);
  if (size > max && std::isfinite(value)) {
    return static_cast<T>(std::copysign(max, value));
  }
  return static_cast<T>(size < min && size > 0 ? std::copysign(min, value) : value);
}

// LITERALINCLUDE START: UNIFORM
template <class RNG>
struct Uniform {
  void operator()(at::TensorIteratorBase& iter, double from, double to,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "uniform_", [&] {
          using C = at::opmath_type<scalar_t>;
          const auto low = static_cast<scalar_t>(from);
          const auto high = static_cast<scalar_t>(to);
          const scalar_t last = std::nextafter(high, low);
          const C base = low;
          const C range = static_cast<C>(high) - base;
          fill_random<scalar_t, kWordsFor<C>>(
              "uniform_", self, generator,
              [=](Words words, int64_t count, scalar_t* values) {
                for (int64_t i = 0; i < count; ++i) {
                  const auto value = static_cast<scalar_t>(
                      unit<scalar_t, C>(words + i * kWordsFor<C>) * range + base);
                  values[i] = value < high ? value : last;  // (1)
                }
              });
        });
  }
};
// LITERALINCLUDE END: UNIFORM

template <class RNG>
struct Normal {
  void operator()(const at::Tensor& self, double mean, double std,
                  const OptionalGenerator& generator) {
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "normal_", [&] {
          using C = at::opmath_type<scalar_t>;
          fill_random<scalar_t, kWordsFor<C>>(
              "normal_", self, generator,
              [mean = static_cast<C>(mean), std = static_cast<C>(std)](
                  Words words, int64_t count, scalar_t* values) {
                NormalTile<C> normal;
                box_muller(words, count, normal.data());
                for (int64_t i = 0; i < count; ++i) {
                  values[i] = static_cast<scalar_t>(normal[i] * std + mean);
                }
              });
        });
  }
};

template <class RNG>
struct LogNormal {
  void operator()(at::TensorIteratorBase& iter, double mean, double std,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "log_normal_", [&] {
          using C = at::opmath_type<scalar_t>;
          fill_random<scalar_t, kWordsFor<C>>(
              "log_normal_", self, generator,
              [mean = static_cast<C>(mean), std = static_cast<C>(std)](
                  Words words, int64_t count, scalar_t* values) {
                NormalTile<C> normal;
                box_muller(words, count, normal.data());
                for (int64_t i = 0; i < count; ++i) {
                  values[i] = static_cast<scalar_t>(std::exp(normal[i] * std + mean));
                }
              });
        });
  }
};

template <class RNG>
struct Exponential {
  void operator()(at::TensorIteratorBase& iter, double lambda,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    TORCH_CHECK(at::isFloatingType(self.scalar_type()),
                "Exponential distribution is a continuous probability distribution. "
                "dtype must be a floating point but you specified ",
                self.scalar_type());
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "exponential_", [&] {
          using C = at::opmath_type<scalar_t>;
          const C least = std::numeric_limits<C>::epsilon() / 2;
          fill_random<scalar_t, kWordsFor<C>>(
              "exponential_", self, generator,
              [least, rate = static_cast<C>(lambda)](Words words, int64_t count,
                                                     scalar_t* values) {
                for (int64_t i = 0; i < count; ++i) {
                  // The logarithm of 1 is 0, which an exponential number never is.
                  const C log = -std::log(positive_unit<C>(words + i * kWordsFor<C>));
                  values[i] =
                      keep_finite_and_nonzero<scalar_t>(std::max(log, least) / rate);
                }
              });
        });
  }
};

template <class RNG>
struct Cauchy {
  void operator()(at::TensorIteratorBase& iter, double median, double sigma,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::kHalf, at::kBFloat16, self.scalar_type(), "cauchy_", [&] {
          fill_random<scalar_t, 2>(
              "cauchy_", self, generator,
              [=](Words words, int64_t count, scalar_t* values) {
                for (int64_t i = 0; i < count; ++i) {
                  const double u = positive_unit<double>(words + 2 * i) - 0.5;
                  values[i] = keep_finite_and_nonzero<scalar_t>(
                      median + sigma * std::tan(c10::pi<double> * u));
                }
              });
        });
  }
};

}  // namespace

// LITERALINCLUDE START: UNIFORM_CHECKED
at::Tensor& uniform_(at::Tensor& self, double from, double to,
                     OptionalGenerator generator) {
  return templates::uniform_impl_<Uniform, OpenRegGeneratorImpl>(self, from, to,
                                                                 generator);
}
// LITERALINCLUDE END: UNIFORM_CHECKED

at::Tensor& normal_(at::Tensor& self, double mean, double std,
                    OptionalGenerator generator) {
  at::assert_no_internal_overlap(self);
  return templates::normal_impl_<Normal, OpenRegGeneratorImpl>(self, mean, std,
                                                               generator);
}

at::Tensor& log_normal_(at::Tensor& self, double mean, double std,
                        OptionalGenerator generator) {
  return templates::log_normal_impl_<LogNormal, OpenRegGeneratorImpl>(self, mean, std,
                                                                      generator);
}

at::Tensor& exponential_(at::Tensor& self, double lambda, OptionalGenerator generator) {
  return templates::exponential_impl_<Exponential, OpenRegGeneratorImpl>(self, lambda,
                                                                         generator);
}

at::Tensor& cauchy_(at::Tensor& self, double median, double sigma,
                    OptionalGenerator generator) {
  return templates::cauchy_impl_<Cauchy, OpenRegGeneratorImpl>(self, median, sigma,
                                                               generator);
}

at::Tensor normal_tensor_float(const at::Tensor& mean, double std,
                               OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor normal_float_tensor(double mean, const at::Tensor& std,
                               OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor normal_tensor_tensor(const at::Tensor& mean, const at::Tensor& std,
                                OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor& normal_tensor_float_out(const at::Tensor& mean, double std,
                                    OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

at::Tensor& normal_float_tensor_out(double mean, const at::Tensor& std,
                                    OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

at::Tensor& normal_tensor_tensor_out(const at::Tensor& mean, const at::Tensor& std,
                                     OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

}  // namespace openreg
