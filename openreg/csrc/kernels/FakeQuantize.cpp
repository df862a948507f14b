// Rounds to the values of a code; see docs/modules/quantization.md.
#include "csrc/aten/meta/FakeQuantize.h"

#include <ATen/Operators.h>
#include <ATen/WrapDimUtils.h>
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

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using Parameters = quant_utils::TensorQuantizationParams;
using Two = std::tuple<Tensor&, Tensor&>;
using Three = std::tuple<Tensor&, Tensor&, Tensor&>;

bool is_on(const Tensor& flag) { return flag.item().toDouble() != 0; }

// A kernel cannot raise an error for a number that does not fit, so it saturates.
Tensor to_int(const Tensor& number) {
  using Limits = std::numeric_limits<int32_t>;
  const double value =
      std::fmin(std::fmax(number.item().toDouble(), Limits::lowest()), Limits::max());
  return at::scalar_tensor(static_cast<int32_t>(value), at::kInt).view({1});
}

Tensor to_float(const Tensor& number) { return number.to(at::kFloat).view({1}); }

Two copy_unrounded(const Tensor& self, Tensor& out, Tensor& mask) {
  return {out.copy_(self), mask.fill_(true)};
}

Two round_with(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
               int64_t quant_min, int64_t quant_max, Tensor& out, Tensor& mask) {
  cpu::copy_results(at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
                        self, to_float(scale), to_int(zero_point),
                        at::ones({1}, at::kInt), quant_min, quant_max),
                    out, mask);
  return {out, mask};
}

Two fake_quantize_params(const Tensor& self, const Tensor& scale,
                         const Tensor& zero_point, const Tensor& enabled,
                         int64_t quant_min, int64_t quant_max, Tensor& out,
                         Tensor& mask) {
  return is_on(enabled)
             ? round_with(self, scale, zero_point, quant_min, quant_max, out, mask)
             : copy_unrounded(self, out, mask);
}

Two fake_quantize_channels(const Tensor& self, const Tensor& scale,
                           const Tensor& zero_point, int64_t axis, int64_t quant_min,
                           int64_t quant_max, Tensor& out, Tensor& mask) {
  // The CPU's function raises an error for integers outside of the range.
  const Tensor zeros = at::isFloatingType(zero_point.scalar_type())
                           ? zero_point
                           : zero_point.clamp(quant_min, quant_max);
  cpu::copy_results(at::fake_quantize_per_channel_affine_cachemask(
                        self, scale.to(at::kFloat), zeros, axis, quant_min, quant_max),
                    out, mask);
  return {out, mask};
}

// -- gradients of a scale and a zero point that are learned --

Three store(const std::tuple<Tensor, Tensor, Tensor>& gradients, Tensor& input,
            Tensor& scale, Tensor& zero_point) {
  return {input.copy_(std::get<0>(gradients)),
          scale.copy_(std::get<1>(gradients).view_as(scale)),
          zero_point.copy_(std::get<2>(gradients).view_as(zero_point))};
}

Three fake_quantize_backward(const Tensor& grad, const Tensor& self,
                             const Tensor& scale, const Tensor& zero_point,
                             int64_t quant_min, int64_t quant_max, double grad_factor,
                             Tensor& input, Tensor& scales, Tensor& zeros) {
  if (self.numel() == 0) {
    return {input, scales.zero_(), zeros.zero_()};
  }
  return store(at::_fake_quantize_learnable_per_tensor_affine_backward(
                   grad, self, scale, zero_point.nan_to_num(), quant_min, quant_max,
                   grad_factor),
               input, scales, zeros);
}

Three fake_quantize_channels_backward(const Tensor& grad, const Tensor& self,
                                      const Tensor& scale, const Tensor& zero_point,
                                      int64_t axis, int64_t quant_min,
                                      int64_t quant_max, double grad_factor,
                                      Tensor& input, Tensor& scales, Tensor& zeros) {
  if (self.numel() == 0) {
    return {input, scales.zero_(), zeros.zero_()};
  }
  return store(at::_fake_quantize_learnable_per_channel_affine_backward(
                   grad.to(at::kFloat), self.to(at::kFloat), scale.to(at::kFloat),
                   zero_point.to(at::kFloat).nan_to_num(), axis, quant_min, quant_max,
                   grad_factor),
               input, scales, zeros);
}

// -- observing and rounding in one launch --

// In the CPU's order of operations, so that the result is the same.
void move_towards(const Tensor& running, const Tensor& current, float factor) {
  const Tensor old_numbers = running.reshape(-1), new_numbers = current.reshape(-1);
  auto numbers = old_numbers.accessor<float, 1>();
  const auto now = new_numbers.accessor<float, 1>();
  for (int64_t i = 0; i < numbers.size(0); ++i) {
    numbers[i] = std::isinf(numbers[i]) ? now[i]  // the first time
                                        : numbers[i] + factor * (now[i] - numbers[i]);
  }
}

Parameters choose(float low, float high, int64_t quant_min, int64_t quant_max,
                  bool symmetric) {
  if (std::isnan(low) || std::isnan(high)) {  // and so is the result
    return {std::numeric_limits<double>::quiet_NaN(),
            std::numeric_limits<int32_t>::lowest(), 0};
  }
  if (low > high) {  // nothing was observed yet
    low = high = 0;
  }
  return quant_utils::ChooseQuantizationParams(
      low, high, static_cast<int32_t>(quant_min), static_cast<int32_t>(quant_max),
      symmetric);
}

// From the range of the numbers.
void choose_parameters(const Tensor& running_min, const Tensor& running_max,
                       int64_t quant_min, int64_t quant_max, bool symmetric,
                       Tensor& scale, Tensor& zero_point) {
  const Tensor lows = running_min.reshape(-1);
  const Tensor highs = running_max.reshape(-1);
  const Tensor scales = at::empty(lows.sizes(), at::kFloat);
  const Tensor zeros = at::empty(lows.sizes(), at::kInt);
  for (int64_t i = 0; i < lows.numel(); ++i) {
    const Parameters chosen =
        choose(lows.accessor<float, 1>()[i], highs.accessor<float, 1>()[i], quant_min,
               quant_max, symmetric);
    scales.mutable_data_ptr<float>()[i] = static_cast<float>(chosen.scale);
    zeros.mutable_data_ptr<int32_t>()[i] = chosen.zero_point;
  }
  scale.copy_(scales.view_as(scale));
  zero_point.copy_(zeros.view_as(zero_point));
}

// Moves the range towards that of self if `observe` is not 0. If `quantize` is not 0,
// chooses the parameters and rounds self; else copies it.
// LITERALINCLUDE START: OBSERVE_KERNEL
Two observe_and_fake_quantize(const Tensor& self, const Tensor& observe,
                              const Tensor& quantize, Tensor& running_min,
                              Tensor& running_max, Tensor& scale, Tensor& zero_point,
                              double averaging_const, int64_t quant_min,
                              int64_t quant_max, int64_t axis, bool per_channel,
                              bool symmetric, Tensor& out, Tensor& mask) {
  if (is_on(observe)) {  // (1)
    const auto [low, high] = per_channel
                                 ? at::aminmax(self.transpose(0, axis).flatten(1), 1)
                                 : at::aminmax(self);
    move_towards(running_min, low, static_cast<float>(averaging_const));
    move_towards(running_max, high, static_cast<float>(averaging_const));
  }
  if (!is_on(quantize)) {
    return copy_unrounded(self, out, mask);
  }
  choose_parameters(running_min, running_max, quant_min, quant_max, symmetric, scale,
                    zero_point);  // (2)
  return per_channel
             ? fake_quantize_channels(self, scale, zero_point.to(at::kInt), axis,
                                      quant_min, quant_max, out, mask)
             : round_with(self, scale, zero_point, quant_min, quant_max, out, mask);
}
// LITERALINCLUDE END: OBSERVE_KERNEL

// It also writes the four statistics.
void observe(const Tensor& self, const Tensor& observer_on, const Tensor& fake_quant_on,
             const Tensor& running_min, const Tensor& running_max, const Tensor& scale,
             const Tensor& zero_point, double averaging_const, int64_t quant_min,
             int64_t quant_max, int64_t axis, bool per_channel, bool symmetric,
             Tensor& out, Tensor& mask) {
  axis = per_channel ? at::maybe_wrap_dim(axis, self.dim()) : 0;
  cpu::launch("_fused_moving_avg_obs_fq_helper", observe_and_fake_quantize, self,
              observer_on, fake_quant_on, running_min, running_max, scale, zero_point,
              averaging_const, quant_min, quant_max, axis, per_channel, symmetric, out,
              mask);
}

}  // namespace

// LITERALINCLUDE START: REGISTER_FAKE_QUANTIZE
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<
      op::fake_quantize_per_tensor_affine_cachemask, FakeQuantize,
      cpu::out_variant<at::fake_quantize_per_tensor_affine_cachemask>>(m);
  cpu::on_cpu_without_out<op::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams,
                          FakeQuantizeParams, fake_quantize_params>(m);
  cpu::on_cpu_without_out<op::fake_quantize_per_channel_affine_cachemask,
                          FakeQuantizeChannels, fake_quantize_channels>(m);
  cpu::on_cpu_without_out<op::_fake_quantize_learnable_per_tensor_affine_backward,
                          FakeQuantizeBackward, fake_quantize_backward>(m);
  cpu::on_cpu_without_out<op::_fake_quantize_learnable_per_channel_affine_backward,
                          FakeQuantizeChannelsBackward,
                          fake_quantize_channels_backward>(m);
  structured_without_out<op::_fused_moving_avg_obs_fq_helper, ObserveAndFakeQuantize>(
      m, observe);
}
// LITERALINCLUDE END: REGISTER_FAKE_QUANTIZE

}  // namespace openreg
