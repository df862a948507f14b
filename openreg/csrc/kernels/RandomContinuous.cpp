// Uniform, normal and what follows from them; see docs/frontend/random.md.
#include "csrc/kernels/RandomContinuous.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <c10/util/BFloat16-math.h>
#include <c10/util/MathConstants.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "csrc/kernels/cpu/BoxMuller.h"
#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"

namespace openreg::cpu {
namespace {

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

// transform(a normal number) for each element of self.
template <class T, class F>
void fill_normal(const at::Tensor& self, PhiloxState random, double mean, double std,
                 F transform) {
  using C = at::opmath_type<T>;
  fill_tiles<T, kWordsFor<C>>(
      self, random,
      [transform, mean = static_cast<C>(mean), std = static_cast<C>(std)](
          Words words, int64_t count, T* values) {
        NormalTile<C> numbers;
        box_muller(words, count, numbers.data());
        for (int64_t i = 0; i < count; ++i) {
          values[i] = static_cast<T>(transform(numbers[i] * std + mean));
        }
      });
}

// LITERALINCLUDE START: UNIFORM
void draw_uniform(at::Tensor& self, PhiloxState random, double from, double to) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "uniform_", [&] {
        using C = at::opmath_type<scalar_t>;
        const auto low = static_cast<scalar_t>(from);
        const auto high = static_cast<scalar_t>(to);
        const scalar_t last = std::nextafter(high, low);
        const C base = low;
        const C range = static_cast<C>(high) - base;
        fill_tiles<scalar_t, kWordsFor<C>>(
            self, random, [=](Words words, int64_t count, scalar_t* values) {
              for (int64_t i = 0; i < count; ++i) {
                const auto value = static_cast<scalar_t>(
                    unit<scalar_t, C>(words + i * kWordsFor<C>) * range + base);
                values[i] = value < high ? value : last;  // (1)
              }
            });
      });
}
// LITERALINCLUDE END: UNIFORM

void draw_normal(at::Tensor& self, PhiloxState random, double mean, double std) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "normal_", [&] {
        fill_normal<scalar_t>(self, random, mean, std,
                              [](auto value) { return value; });
      });
}

void draw_log_normal(at::Tensor& self, PhiloxState random, double mean, double std) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "log_normal_", [&] {
        fill_normal<scalar_t>(self, random, mean, std,
                              [](auto value) { return std::exp(value); });
      });
}

void draw_exponential(at::Tensor& self, PhiloxState random, double lambda) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "exponential_", [&] {
        using C = at::opmath_type<scalar_t>;
        const C least = std::numeric_limits<C>::epsilon() / 2;
        fill_tiles<scalar_t, kWordsFor<C>>(
            self, random,
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

void draw_cauchy(at::Tensor& self, PhiloxState random, double median, double sigma) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "cauchy_", [&] {
        fill_tiles<scalar_t, 2>(
            self, random, [=](Words words, int64_t count, scalar_t* values) {
              for (int64_t i = 0; i < count; ++i) {
                const double u = positive_unit<double>(words + 2 * i) - 0.5;
                values[i] = keep_finite_and_nonzero<scalar_t>(
                    median + sigma * std::tan(c10::pi<double> * u));
              }
            });
      });
}

}  // namespace
}  // namespace openreg::cpu

namespace openreg::kernels {

void uniform(const at::Tensor& self, PhiloxKernelState random, double from, double to) {
  cpu::launch("uniform_", cpu::draw_uniform, self, random, from, to);
}

void normal(const at::Tensor& self, PhiloxKernelState random, double mean, double std) {
  cpu::launch("normal_", cpu::draw_normal, self, random, mean, std);
}

void log_normal(const at::Tensor& self, PhiloxKernelState random, double mean,
                double std) {
  cpu::launch("log_normal_", cpu::draw_log_normal, self, random, mean, std);
}

void exponential(const at::Tensor& self, PhiloxKernelState random, double lambda) {
  cpu::launch("exponential_", cpu::draw_exponential, self, random, lambda);
}

void cauchy(const at::Tensor& self, PhiloxKernelState random, double median,
            double sigma) {
  cpu::launch("cauchy_", cpu::draw_cauchy, self, random, median, sigma);
}

}  // namespace openreg::kernels
