// Kernels that round to the values of a code; see docs/modules/fake-quantize.md.
#include "csrc/aten/kernels/FakeQuantize.h"

#include <ATen/native/quantized/cpu/QuantUtils.h>
#include <ATen/ops/_fake_quantize_learnable_per_channel_affine_backward.h>
#include <ATen/ops/_fake_quantize_learnable_per_tensor_affine_backward.h>
#include <ATen/ops/_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fake_quantize_per_channel_affine_cachemask.h>
#include <ATen/ops/fake_quantize_per_tensor_affine_cachemask.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>

#include <cmath>
#include <limits>

namespace openreg::kernels {
namespace {

using Parameters = quant_utils::TensorQuantizationParams;

bool is_on(const at::Tensor& flag) { return flag.item().toDouble() != 0; }

void store(const std::tuple<at::Tensor, at::Tensor>& rounded, const Rounded& out) {
  out.numbers.copy_(std::get<0>(rounded));
  out.mask.copy_(std::get<1>(rounded));
}

void store(const std::tuple<at::Tensor, at::Tensor, at::Tensor>& gradients,
           const Gradients& out) {
  out[0].copy_(std::get<0>(gradients));
  out[1].copy_(std::get<1>(gradients).view_as(out[1]));
  out[2].copy_(std::get<2>(gradients).view_as(out[2]));
}

void copy_unrounded(const at::Tensor& self, const Rounded& out) {
  out.numbers.copy_(self);
  out.mask.fill_(true);
}

// A kernel cannot raise an error for a number that does not fit, so it saturates.
at::Tensor to_int(const at::Tensor& number) {
  using Limits = std::numeric_limits<int32_t>;
  const double value =
      std::fmin(std::fmax(number.item().toDouble(), Limits::lowest()), Limits::max());
  return at::scalar_tensor(static_cast<int32_t>(value), at::kInt).view({1});
}

at::Tensor to_float(const at::Tensor& number) {
  return number.to(at::kFloat).view({1});
}

void round_with(const at::Tensor& self, const at::Tensor& scale,
                const at::Tensor& zero_point, CodeRange codes, const Rounded& out) {
  store(at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            self, to_float(scale), to_int(zero_point), at::ones({1}, at::kInt),
            codes.min, codes.max),
        out);
}

// In the CPU's order of operations, since the result shall be the same.
void move_towards(const at::Tensor& running, const at::Tensor& current, float factor) {
  const at::Tensor old_numbers = running.reshape(-1), new_numbers = current.reshape(-1);
  auto numbers = old_numbers.accessor<float, 1>();
  const auto now = new_numbers.accessor<float, 1>();
  for (int64_t i = 0; i < numbers.size(0); ++i) {
    numbers[i] = std::isinf(numbers[i]) ? now[i]  // the first time
                                        : numbers[i] + factor * (now[i] - numbers[i]);
  }
}

void observe_range(const at::Tensor& self, const MovingAverage& average,
                   const Statistics& statistics) {
  const auto [low, high] =
      average.per_channel ? at::aminmax(self.transpose(0, average.axis).flatten(1), 1)
                          : at::aminmax(self);
  const auto factor = static_cast<float>(average.averaging_constant);
  move_towards(statistics.running_min, low, factor);
  move_towards(statistics.running_max, high, factor);
}

Parameters choose(float low, float high, const MovingAverage& average) {
  if (std::isnan(low) || std::isnan(high)) {  // the result is NaN, too
    return {std::numeric_limits<double>::quiet_NaN(),
            std::numeric_limits<int32_t>::lowest(), 0};
  }
  if (low > high) {  // nothing was observed yet
    low = high = 0;
  }
  return quant_utils::ChooseQuantizationParams(
      low, high, static_cast<int32_t>(average.codes.min),
      static_cast<int32_t>(average.codes.max), average.symmetric);
}

void choose_parameters(const MovingAverage& average, const Statistics& statistics) {
  const at::Tensor lows = statistics.running_min.reshape(-1);
  const at::Tensor highs = statistics.running_max.reshape(-1);
  const at::Tensor scales = at::empty(lows.sizes(), at::kFloat);
  const at::Tensor zeros = at::empty(lows.sizes(), at::kInt);
  for (int64_t i = 0; i < lows.numel(); ++i) {
    const Parameters chosen =
        choose(lows.accessor<float, 1>()[i], highs.accessor<float, 1>()[i], average);
    scales.mutable_data_ptr<float>()[i] = static_cast<float>(chosen.scale);
    zeros.mutable_data_ptr<int32_t>()[i] = chosen.zero_point;
  }
  statistics.scale.copy_(scales.view_as(statistics.scale));
  statistics.zero_point.copy_(zeros.view_as(statistics.zero_point));
}

}  // namespace

void fake_quantize(const at::Tensor& self, double scale, int64_t zero_point,
                   CodeRange codes, const Rounded& out) {
  store(at::fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point,
                                                      codes.min, codes.max),
        out);
}

void fake_quantize_params(const at::Tensor& self, const at::Tensor& scale,
                          const at::Tensor& zero_point, const at::Tensor& enabled,
                          CodeRange codes, const Rounded& out) {
  if (is_on(enabled)) {
    round_with(self, scale, zero_point, codes, out);
  } else {
    copy_unrounded(self, out);
  }
}

void fake_quantize_channels(const at::Tensor& self, const at::Tensor& scale,
                            const at::Tensor& zero_point, int64_t axis, CodeRange codes,
                            const Rounded& out) {
  // The CPU's function raises an error for integers outside of the range.
  const at::Tensor zeros = at::isFloatingType(zero_point.scalar_type())
                               ? zero_point
                               : zero_point.clamp(codes.min, codes.max);
  store(at::fake_quantize_per_channel_affine_cachemask(
            self, scale.to(at::kFloat), zeros, axis, codes.min, codes.max),
        out);
}

void fake_quantize_backward(const at::Tensor& grad, const at::Tensor& self,
                            const at::Tensor& scale, const at::Tensor& zero_point,
                            CodeRange codes, double grad_factor, const Gradients& out) {
  store(at::_fake_quantize_learnable_per_tensor_affine_backward(
            grad, self, scale, zero_point.nan_to_num(), codes.min, codes.max,
            grad_factor),
        out);
}

void fake_quantize_channels_backward(const at::Tensor& grad, const at::Tensor& self,
                                     const at::Tensor& scale,
                                     const at::Tensor& zero_point, int64_t axis,
                                     CodeRange codes, double grad_factor,
                                     const Gradients& out) {
  store(at::_fake_quantize_learnable_per_channel_affine_backward(
            grad, self, scale, zero_point.nan_to_num(), axis, codes.min, codes.max,
            grad_factor),
        out);
}

// LITERALINCLUDE START: OBSERVE_KERNEL
void observe_and_fake_quantize(const at::Tensor& self, const at::Tensor& observe,
                               const at::Tensor& quantize, const Statistics& statistics,
                               const MovingAverage& average, const Rounded& out) {
  if (is_on(observe)) {  // (1)
    observe_range(self, average, statistics);
  }
  if (!is_on(quantize)) {
    copy_unrounded(self, out);
    return;
  }
  choose_parameters(average, statistics);  // (2)
  if (average.per_channel) {
    fake_quantize_channels(self, statistics.scale, statistics.zero_point.to(at::kInt),
                           average.axis, average.codes, out);
  } else {
    round_with(self, statistics.scale, statistics.zero_point, average.codes, out);
  }
}
// LITERALINCLUDE END: OBSERVE_KERNEL

}  // namespace openreg::kernels
