// Dropout and the random leaky ReLU; see docs/frontend/random.md.
#include "csrc/aten/meta/RandomDropout.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/native_dropout_backward_ops.h>
#include <ATen/ops/native_dropout_ops.h>
#include <ATen/ops/rrelu_with_noise_ops.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "csrc/aten/meta/RandomChecks.h"
#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"
#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg::cpu {
namespace {

namespace op = at::_ops;
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

// In training, sets elements to zero with probability `p`, and divides the others by
// 1 - p; `mask` says which were kept. An element takes one random word.
void dropout(const at::Tensor& input, double p, std::optional<bool> train,
             at::Tensor& out, at::Tensor& mask) {
  if (!train.value_or(true)) {
    mask.fill_(true);
    out.copy_(input);
    return;
  }
  launch(
      "native_dropout",
      [](const at::Tensor& x, PhiloxState random, double probability, at::Tensor& y,
         at::Tensor& kept) {
        AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
            at::kHalf, at::kBFloat16, at::kComplexHalf, x.scalar_type(),
            "native_dropout",
            [&] { write_dropout<scalar_t>(x, random, probability, y, kept); });
      },
      input,
      reserve(std::nullopt, input.device().index(), blocks_for(input.numel(), 1)), p,
      out, mask);
}

// Multiplies `grad` by `scale` where `mask` is true; elsewhere writes zeros.
void dropout_backward(const at::Tensor& grad, const at::Tensor& mask, double scale,
                      at::Tensor& out) {
  launch(
      "native_dropout_backward",
      [](const at::Tensor& dy, const at::Tensor& kept, double factor, at::Tensor& dx) {
        AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
            at::kHalf, at::kBFloat16, at::kComplexHalf, dx.scalar_type(),
            "native_dropout_backward",
            [&] { write_dropout_backward<scalar_t>(dy, kept, factor, dx); });
      },
      grad.to(out.scalar_type()), mask, scale, out);
}

// Multiplies negative elements by a slope. In training it is a random one of [lower,
// upper), which is stored in `noise`, from two random words for a float64, else one. In
// evaluation it is the mean of the bounds, and `noise` is unchanged.
void rrelu(const at::Tensor& self, const at::Tensor& noise, const at::Scalar& lower,
           const at::Scalar& upper, bool training,
           const std::optional<at::Generator>& generator, at::Tensor& out) {
  const int64_t words = words_for(self.scalar_type());
  launch(
      "rrelu_with_noise",
      [](const at::Tensor& x, PhiloxState random, double low, double high, bool train,
         at::Tensor& slopes, at::Tensor& y) {
        AT_DISPATCH_FLOATING_TYPES_AND2(
            at::kHalf, at::kBFloat16, x.scalar_type(), "rrelu_with_noise",
            [&] { write_rrelu<scalar_t>(x, random, low, high, train, slopes, y); });
      },
      self,
      training
          ? reserve(generator, self.device().index(), blocks_for(self.numel(), words))
          : PhiloxKernelState({}),
      lower.to<double>(), upper.to<double>(), training, noise, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_without_out<op::native_dropout, Dropout>(m, dropout);
  structured_without_out<op::native_dropout_backward, DropoutBackward>(
      m, dropout_backward);
  structured<op::rrelu_with_noise, op::rrelu_with_noise_out, Rrelu>(m, rrelu);
}

}  // namespace openreg::cpu
