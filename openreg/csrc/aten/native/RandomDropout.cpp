// Dropout and the random leaky ReLU; see docs/frontend/random.md.
#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/OpMathType.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>

#include <cmath>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/Random.h"
#include "csrc/aten/native/RandomKernel.h"

namespace openreg {
namespace {

using Words = const uint32_t*;

template <class T>
void launch_dropout(const at::Tensor& input, const at::Tensor& out,
                    const at::Tensor& mask, double p) {
  using C = at::opmath_type<T>;
  const auto kept = static_cast<uint64_t>(std::ldexp(1 - p, 32));
  const auto scale =
      static_cast<c10::scalar_value_type<C>::type>(p < 1 ? 1 / (1 - p) : 0);
  const auto from = KernelTensor::input(input);
  const KernelTensor to(out);
  const KernelTensor to_mask(mask);
  const PhiloxSource random =
      reserve(std::nullopt, input.device().index(), blocks_for(input.numel(), 1));
  launch("native_dropout", input.device(), [from, to, to_mask, random, kept, scale] {
    const Elements<T> in(from.on_device());
    const Elements<T> result(to.on_device());
    const Elements<bool> keep(to_mask.on_device());
    for_each_tile<1>(
        random.state(), in.count(), [&](int64_t first, int64_t count, Words words) {
          std::array<T, kTileWords> values;
          std::array<bool, kTileWords> keeps;
          in.read(first, count, values.data());
          for (int64_t i = 0; i < count; ++i) {
            keeps[i] = words[i] < kept;
            values[i] =
                static_cast<T>(static_cast<C>(values[i]) * (keeps[i] ? scale : 0));
          }
          result.write(first, count, values.data());
          keep.write(first, count, keeps.data());
        });
  });
}

// Copies, with the strides of `input` where it is dense.
at::Tensor copy_of(const at::Tensor& input) {
  at::Tensor out = at::empty_like(input);
  out.copy_(input);
  return out;
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train) {
  at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  if (!train.value_or(true)) {
    mask.fill_(true);
    return {copy_of(input), mask};
  }
  TORCH_CHECK(0 <= p && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
  at::Tensor out = at::empty_like(input);
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kComplexHalf, input.scalar_type(), "native_dropout",
      [&] {
        if (input.numel() > 0) {
          launch_dropout<scalar_t>(input, out, mask, p);
        }
      });
  return {out, mask};
}

at::Tensor native_dropout_backward(const at::Tensor& grad, const at::Tensor& mask,
                                   double scale) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "openreg: native_dropout_backward expects a mask of dtype bool, but got ",
              mask.scalar_type());
  TORCH_CHECK(grad.sizes() == mask.sizes(),
              "openreg: native_dropout_backward expects a mask of shape ", grad.sizes(),
              ", but got ", mask.sizes());
  if (!grad.is_floating_point() && !grad.is_complex()) {
    return at::mul(grad, at::mul(mask.to(grad.scalar_type()), scale));  // floats
  }
  at::Tensor out = at::empty_like(grad);
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kComplexHalf, grad.scalar_type(),
      "native_dropout_backward", [&] {
        using C = at::opmath_type<scalar_t>;
        if (grad.numel() == 0) {
          return;
        }
        launch("native_dropout_backward", grad.device(),
               [from = KernelTensor::input(grad), in_mask = KernelTensor::input(mask),
                to = KernelTensor(out), factor = static_cast<C>(scale)] {
                 const Elements<scalar_t> in(from.on_device());
                 const Elements<bool> keep(in_mask.on_device());
                 const Elements<scalar_t> result(to.on_device());
                 std::array<scalar_t, kTileWords> values;
                 std::array<bool, kTileWords> keeps;
                 for (int64_t first = 0; first < in.count(); first += kTileWords) {
                   const int64_t count = std::min(kTileWords, in.count() - first);
                   in.read(first, count, values.data());
                   keep.read(first, count, keeps.data());
                   for (int64_t i = 0; i < count; ++i) {
                     values[i] = static_cast<scalar_t>(static_cast<C>(values[i]) *
                                                       (keeps[i] ? factor : C(0)));
                   }
                   result.write(first, count, values.data());
                 }
               });
      });
  return out;
}

// Negative elements are multiplied by a slope: a random one, which `noise` remembers,
// or in evaluation the mean of the two bounds.
at::Tensor& rrelu_with_noise_out(const at::Tensor& self, at::Tensor& noise,
                                 const at::Scalar& lower, const at::Scalar& upper,
                                 bool training, OptionalGenerator generator,
                                 at::Tensor& out) {
  TORCH_CHECK(self.sizes() == noise.sizes(),
              "noise tensor shape must match self tensor shape. Got self.shape = ",
              self.sizes(), " noise.shape = ", noise.sizes());
  TORCH_CHECK(noise.scalar_type() == self.scalar_type(), "expected scalar type ",
              self.scalar_type(), " but found ", noise.scalar_type());
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "expected scalar type ",
              self.scalar_type(), " but found ", out.scalar_type());
  const auto low = lower.to<double>();
  const auto high = upper.to<double>();
  TORCH_CHECK(low <= high && std::isfinite(high - low),
              "Expected from <= to to be true, but got false: rrelu expects finite "
              "bounds, lower <= upper, but got lower=",
              low, " and upper=", high);
  at::native::resize_output(out, self.sizes());
  at::assert_no_internal_overlap(out);
  at::assert_no_partial_overlap(out, self);
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "rrelu_with_noise", [&] {
        using C = at::opmath_type<scalar_t>;
        if (self.numel() == 0) {
          return;
        }
        const KernelTensor to(out);  // first: it may be `self`
        const auto from = KernelTensor::input(self);
        const KernelTensor slopes(noise);
        constexpr int kWords = kWordsFor<C>;
        const PhiloxSource random = training ? reserve(generator, self.device().index(),
                                                       blocks_for(self.numel(), kWords))
                                             : PhiloxSource({});
        const auto base = static_cast<C>(training ? low : (low + high) / 2);
        const auto range = static_cast<C>(training ? high - low : 0);
        launch("rrelu_with_noise", self.device(),
               [from, to, slopes, random, training, base, range] {
                 const Elements<scalar_t> in(from.on_device());
                 const Elements<scalar_t> result(to.on_device());
                 const Elements<scalar_t> remembered(slopes.on_device());
                 for_each_tile<kWords>(
                     random.state(), in.count(),
                     [&](int64_t first, int64_t count, Words words) {
                       std::array<scalar_t, kTileWords / kWords> values;
                       std::array<scalar_t, kTileWords / kWords> factors;
                       in.read(first, count, values.data());
                       for (int64_t i = 0; i < count; ++i) {
                         const C slope =
                             unit<scalar_t, C>(words + kWords * i) * range + base;
                         const C value = values[i];
                         factors[i] = static_cast<scalar_t>(value <= 0 ? slope : C{1});
                         values[i] =
                             static_cast<scalar_t>(value <= 0 ? value * slope : value);
                       }
                       if (training) {
                         remembered.write(first, count, factors.data());
                       }
                       result.write(first, count, values.data());
                     });
               });
      });
  return out;
}

at::Tensor rrelu_with_noise(const at::Tensor& self, at::Tensor& noise,
                            const at::Scalar& lower, const at::Scalar& upper,
                            bool training, OptionalGenerator generator) {
  at::Tensor out = at::empty_like(self);
  return rrelu_with_noise_out(self, noise, lower, upper, training, generator, out);
}

at::Tensor& rrelu_with_noise_(at::Tensor& self, at::Tensor& noise,
                              const at::Scalar& lower, const at::Scalar& upper,
                              bool training, OptionalGenerator generator) {
  return rrelu_with_noise_out(self, noise, lower, upper, training, generator, self);
}

}  // namespace openreg
