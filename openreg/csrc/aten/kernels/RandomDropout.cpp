// Dropout and the random leaky ReLU; see docs/frontend/random.md.
#include "csrc/aten/kernels/RandomDropout.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "csrc/aten/kernels/RandomKernel.h"

namespace openreg::kernels {
namespace {

using Words = const uint32_t*;

template <class T>
void write_dropout(const at::Tensor& input, PhiloxState random, double p,
                   const at::Tensor& out, const at::Tensor& mask) {
  using C = at::opmath_type<T>;
  const auto kept = static_cast<uint64_t>(std::ldexp(1 - p, 32));
  const auto scale =
      static_cast<c10::scalar_value_type<C>::type>(p < 1 ? 1 / (1 - p) : 0);
  const Elements<T> in(input);
  const Elements<T> result(out);
  const Elements<bool> keep(mask);
  for_each_tile<1>(random, in.count(), [&](int64_t first, int64_t count, Words words) {
    std::array<T, kTileWords> values;
    std::array<bool, kTileWords> keeps;
    in.read(first, count, values.data());
    for (int64_t i = 0; i < count; ++i) {
      keeps[i] = words[i] < kept;
      values[i] = static_cast<T>(static_cast<C>(values[i]) * (keeps[i] ? scale : 0));
    }
    result.write(first, count, values.data());
    keep.write(first, count, keeps.data());
  });
}

template <class T>
void write_dropout_backward(const at::Tensor& grad, const at::Tensor& mask,
                            double scale, const at::Tensor& out) {
  using C = at::opmath_type<T>;
  const auto factor = static_cast<C>(scale);
  const Elements<T> in(grad);
  const Elements<bool> keep(mask);
  const Elements<T> result(out);
  std::array<T, kTileWords> values;
  std::array<bool, kTileWords> keeps;
  for (int64_t first = 0; first < in.count(); first += kTileWords) {
    const int64_t count = std::min(kTileWords, in.count() - first);
    in.read(first, count, values.data());
    keep.read(first, count, keeps.data());
    for (int64_t i = 0; i < count; ++i) {
      values[i] =
          static_cast<T>(static_cast<C>(values[i]) * (keeps[i] ? factor : C(0)));
    }
    result.write(first, count, values.data());
  }
}

template <class T>
void write_rrelu(const at::Tensor& self, PhiloxState random, double lower, double upper,
                 bool training, const at::Tensor& noise, const at::Tensor& out) {
  using C = at::opmath_type<T>;
  constexpr int kWords = kWordsFor<C>;
  const auto base = static_cast<C>(training ? lower : (lower + upper) / 2);
  const auto range = static_cast<C>(training ? upper - lower : 0);
  const Elements<T> in(self);
  const Elements<T> result(out);
  const Elements<T> remembered(noise);
  for_each_tile<kWords>(
      random, in.count(), [&](int64_t first, int64_t count, Words words) {
        std::array<T, kTileWords / kWords> values;
        std::array<T, kTileWords / kWords> factors;
        in.read(first, count, values.data());
        for (int64_t i = 0; i < count; ++i) {
          const C slope = unit<T, C>(words + kWords * i) * range + base;
          const C value = values[i];
          factors[i] = static_cast<T>(value <= 0 ? slope : C{1});
          values[i] = static_cast<T>(value <= 0 ? value * slope : value);
        }
        if (training) {
          remembered.write(first, count, factors.data());
        }
        result.write(first, count, values.data());
      });
}

}  // namespace

void dropout(const at::Tensor& input, PhiloxState random, double p,
             const at::Tensor& out, const at::Tensor& mask) {
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kComplexHalf, input.scalar_type(), "native_dropout",
      [&] { write_dropout<scalar_t>(input, random, p, out, mask); });
}

void dropout_backward(const at::Tensor& grad, const at::Tensor& mask, double scale,
                      const at::Tensor& out) {
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kComplexHalf, grad.scalar_type(),
      "native_dropout_backward",
      [&] { write_dropout_backward<scalar_t>(grad, mask, scale, out); });
}

void rrelu(const at::Tensor& self, PhiloxState random, double lower, double upper,
           bool training, const at::Tensor& noise, const at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "rrelu_with_noise",
      [&] { write_rrelu<scalar_t>(self, random, lower, upper, training, noise, out); });
}

}  // namespace openreg::kernels
