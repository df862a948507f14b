// The host half of fake quantization; see docs/modules/fake-quantize.md.
#include "csrc/aten/ops/FakeQuantize.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/_fake_quantize_learnable_per_channel_affine_native.h>
#include <ATen/ops/_fake_quantize_learnable_per_tensor_affine_native.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <tuple>

#include "csrc/aten/kernels/FakeQuantize.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using at::Tensor;
using kernels::CodeRange;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

void check_floating(const char* name, const Tensor& self) {
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(dtype == at::kFloat || dtype == at::kDouble ||
                                  dtype == at::kHalf || dtype == at::kBFloat16,
                              "openreg: ", name,
                              ": no kernel rounds a tensor of dtype ", dtype,
                              "; convert it to a floating-point dtype");
}

void check_range(const char* name, CodeRange codes) {
  TORCH_CHECK(codes.min <= codes.max, "openreg: ", name, ": quant_min, ", codes.min,
              ", must not be greater than quant_max, ", codes.max);
}

void check_zero_point(const char* name, int64_t zero_point, CodeRange codes) {
  TORCH_CHECK(zero_point >= codes.min && zero_point <= codes.max, "openreg: ", name,
              ": the zero point ", zero_point, " must be between quant_min, ",
              codes.min, ", and quant_max, ", codes.max);
}

void check_number(const char* name, const char* what, const Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1 && !tensor.is_complex(), "openreg: ", name, ": ",
              what, " must be one real number, but is ", tensor.scalar_type(), " of ",
              tensor.sizes());
}

// The outputs of a forward. A launch captures both.
struct Outputs {
  explicit Outputs(const Tensor& self)
      : numbers(at::empty_like(self)), mask(at::empty_like(self, at::kBool)) {}
  Tensor numbers;
  Tensor mask;
};

struct OutputArgs {
  explicit OutputArgs(const Outputs& out) : numbers(out.numbers), mask(out.mask) {}
  kernels::Rounded alias() const { return {numbers.alias(), mask.alias()}; }
  KernelTensorArg numbers;
  KernelTensorArg mask;
};

// LITERALINCLUDE START: FAKE_QUANTIZE
Two fake_quantize(const Tensor& self, double scale, int64_t zero_point,
                  int64_t quant_min, int64_t quant_max) {
  constexpr const char* kName = "fake_quantize_per_tensor_affine";
  const CodeRange codes{quant_min, quant_max};
  check_floating(kName, self);
  check_range(kName, codes);
  check_zero_point(kName, zero_point, codes);
  const Outputs out(self);
  if (self.numel() > 0) {
    launch(kName, self.device(),
           [out = OutputArgs(out), self = KernelTensorArg::input(self), scale,
            zero_point, codes] {
             kernels::fake_quantize(self.alias(), scale, zero_point, codes,
                                    out.alias());
           });
  }
  return {out.numbers, out.mask};
}
// LITERALINCLUDE END: FAKE_QUANTIZE

Two fake_quantize_params(const Tensor& self, const Tensor& scale,
                         const Tensor& zero_point, const Tensor& enabled,
                         int64_t quant_min, int64_t quant_max) {
  constexpr const char* kName = "fake_quantize_per_tensor_affine";
  const CodeRange codes{quant_min, quant_max};
  check_same_device(kName, self, scale, zero_point, enabled);
  check_floating(kName, self);
  check_range(kName, codes);
  check_number(kName, "scale", scale);
  check_number(kName, "zero_point", zero_point);
  check_number(kName, "fake_quant_enabled", enabled);
  const Outputs out(self);
  if (self.numel() > 0) {
    launch(kName, self.device(),
           [out = OutputArgs(out), self = KernelTensorArg::input(self),
            scale = KernelTensorArg::input(scale),
            zero_point = KernelTensorArg::input(zero_point),
            enabled = KernelTensorArg::input(enabled), codes] {
             kernels::fake_quantize_params(self.alias(), scale.alias(),
                                           zero_point.alias(), enabled.alias(), codes,
                                           out.alias());
           });
  }
  return {out.numbers, out.mask};
}

Two fake_quantize_channels(const Tensor& self, const Tensor& scale,
                           const Tensor& zero_point, int64_t axis, int64_t quant_min,
                           int64_t quant_max) {
  constexpr const char* kName = "fake_quantize_per_channel_affine";
  const CodeRange codes{quant_min, quant_max};
  const at::ScalarType zero_dtype = zero_point.scalar_type();
  check_same_device(kName, self, scale, zero_point);
  check_floating(kName, self);
  check_range(kName, codes);
  check_channels(kName, self, scale, zero_point, axis);
  TORCH_CHECK(
      (scale.scalar_type() == at::kFloat || scale.scalar_type() == at::kBFloat16) &&
          (zero_dtype == at::kInt || zero_dtype == at::kFloat ||
           zero_dtype == at::kHalf),
      "openreg: ", kName, ": expected a scale of Float or BFloat16, and a zero point ",
      "of Int, Float or Half, but got ", scale.scalar_type(), " and ", zero_dtype);
  const Outputs out(self);
  if (self.numel() == 0) {
    return {out.numbers, out.mask};
  }
  if (zero_dtype == at::kInt) {  // waits for the device, as torch's own functions do
    const auto [low, high] = at::aminmax(zero_point);
    check_zero_point(kName, low.item<int32_t>(), codes);
    check_zero_point(kName, high.item<int32_t>(), codes);
  }
  launch(kName, self.device(),
         [out = OutputArgs(out), self = KernelTensorArg::input(self),
          scale = KernelTensorArg::input(scale),
          zero_point = KernelTensorArg::input(zero_point), axis, codes] {
           kernels::fake_quantize_channels(self.alias(), scale.alias(),
                                           zero_point.alias(), axis, codes,
                                           out.alias());
         });
  return {out.numbers, out.mask};
}

// -- gradients of a scale and a zero point that are learned --

void check_learnable(const char* name, const Tensor& grad, const Tensor& self,
                     const Tensor& scale, const Tensor& zero_point, CodeRange codes) {
  check_same_device(name, grad, self, scale, zero_point);
  for (const Tensor& tensor : {grad, self, scale, zero_point}) {
    TORCH_CHECK(tensor.scalar_type() == at::kFloat, "openreg: ", name,
                ": expected Float tensors, but got ", tensor.scalar_type());
  }
  TORCH_CHECK(grad.sizes() == self.sizes(), "openreg: ", name,
              ": the gradient has sizes ", grad.sizes(), ", but the input ",
              self.sizes());
  TORCH_CHECK(codes.min <= 0 && codes.max >= 0, "openreg: ", name,
              ": the range of codes must include 0, but is ", codes.min, " to ",
              codes.max);
}

// Makes the gradients. `kernel` gets the arguments on the device, and the outputs.
template <class Kernel>
Three launch_backward(const char* name, const Tensor& grad, const Tensor& self,
                      const Tensor& scale, const Tensor& zero_point, Kernel kernel) {
  const Tensor input = at::empty_like(self);
  const Tensor scales = at::zeros_like(scale), zeros = at::zeros_like(zero_point);
  if (self.numel() > 0) {
    launch(name, self.device(),
           [input = KernelTensorArg(input), scales = KernelTensorArg(scales),
            zeros = KernelTensorArg(zeros), grad = KernelTensorArg::input(grad),
            self = KernelTensorArg::input(self), scale = KernelTensorArg::input(scale),
            zero_point = KernelTensorArg::input(zero_point), kernel] {
             kernel(grad.alias(), self.alias(), scale.alias(), zero_point.alias(),
                    kernels::Gradients{input.alias(), scales.alias(), zeros.alias()});
           });
  }
  return {input, scales, zeros};
}

Three fake_quantize_backward(const Tensor& grad, const Tensor& self,
                             const Tensor& scale, const Tensor& zero_point,
                             int64_t quant_min, int64_t quant_max, double grad_factor) {
  constexpr const char* kName = "_fake_quantize_learnable_per_tensor_affine_backward";
  const CodeRange codes{quant_min, quant_max};
  check_learnable(kName, grad, self, scale, zero_point, codes);
  TORCH_CHECK(scale.dim() == 1 && zero_point.dim() == 1, "openreg: ", kName,
              ": expected one scale and one zero point, but got ", scale.sizes(),
              " and ", zero_point.sizes());
  check_number(kName, "scale", scale);
  check_number(kName, "zero_point", zero_point);
  return launch_backward(
      kName, grad, self, scale, zero_point,
      [codes, grad_factor](const Tensor& grad, const Tensor& self, const Tensor& scale,
                           const Tensor& zero_point, const kernels::Gradients& out) {
        kernels::fake_quantize_backward(grad, self, scale, zero_point, codes,
                                        grad_factor, out);
      });
}

Three fake_quantize_channels_backward(const Tensor& grad, const Tensor& self,
                                      const Tensor& scale, const Tensor& zero_point,
                                      int64_t axis, int64_t quant_min,
                                      int64_t quant_max, double grad_factor) {
  constexpr const char* kName = "_fake_quantize_learnable_per_channel_affine_backward";
  if (self.scalar_type() == at::kBFloat16) {
    return fake_quantize_channels_backward(
        grad.to(at::kFloat), self.to(at::kFloat), scale.to(at::kFloat),
        zero_point.to(at::kFloat), axis, quant_min, quant_max, grad_factor);
  }
  const CodeRange codes{quant_min, quant_max};
  check_learnable(kName, grad, self, scale, zero_point, codes);
  check_channels(kName, self, scale, zero_point, axis);
  return launch_backward(
      kName, grad, self, scale, zero_point,
      [axis, codes, grad_factor](const Tensor& grad, const Tensor& self,
                                 const Tensor& scale, const Tensor& zero_point,
                                 const kernels::Gradients& out) {
        kernels::fake_quantize_channels_backward(grad, self, scale, zero_point, axis,
                                                 codes, grad_factor, out);
      });
}

// -- observing and rounding in one launch --

constexpr const char* kFused = "_fused_moving_avg_obs_fq_helper";

// In the first call for channels the minimum has no elements. Then all statistics get
// their size, as on the CPU.
void size_statistics(int64_t channels, Tensor& running_min, Tensor& running_max,
                     Tensor& scale, Tensor& zero_point) {
  const double infinity = std::numeric_limits<double>::infinity();
  running_min.resize_({channels}).fill_(infinity);
  running_max.resize_({channels}).fill_(-infinity);
  scale.resize_({channels}).fill_(1);
  zero_point.resize_({channels}).zero_();
}

void check_statistic(const char* what, const Tensor& tensor, int64_t channels) {
  TORCH_CHECK(tensor.numel() == channels && tensor.dim() <= 1, "openreg: ", kFused,
              ": ", what, " must have ", channels, " elements, but has sizes ",
              tensor.sizes());
}

void check_fused_dtypes(const Tensor& running_min, const Tensor& running_max,
                        const Tensor& scale, const Tensor& zero_point) {
  TORCH_CHECK(running_min.scalar_type() == at::kFloat &&
                  running_max.scalar_type() == at::kFloat &&
                  scale.scalar_type() == at::kFloat &&
                  at::isIntegralType(zero_point.scalar_type(), /*includeBool=*/false),
              "openreg: ", kFused, ": expected Float for the minimum, the maximum and ",
              "the scale, and integers for the zero point, but got ",
              running_min.scalar_type(), ", ", running_max.scalar_type(), ", ",
              scale.scalar_type(), " and ", zero_point.scalar_type());
}

Two observe_and_fake_quantize(const Tensor& self, const Tensor& observer_on,
                              const Tensor& fake_quant_on, Tensor& running_min,
                              Tensor& running_max, Tensor& scale, Tensor& zero_point,
                              double averaging_const, int64_t quant_min,
                              int64_t quant_max, int64_t ch_axis,
                              bool per_row_fake_quant, bool symmetric_quant) {
  check_same_device(kFused, self, observer_on, fake_quant_on, running_min, running_max,
                    scale, zero_point);
  TORCH_CHECK(self.scalar_type() == at::kFloat && self.numel() > 0, "openreg: ", kFused,
              ": expected a Float tensor with elements, but got ", self.scalar_type(),
              " of ", self.sizes());
  using Limits = std::numeric_limits<int32_t>;
  TORCH_CHECK(quant_min < quant_max && quant_min >= Limits::min() &&
                  quant_max <= Limits::max() && quant_max - quant_min <= Limits::max(),
              "openreg: ", kFused, ": quant_min must be less than quant_max, and both ",
              "must fit into 32 bits, but they are ", quant_min, " and ", quant_max);
  check_number(kFused, "observer_on", observer_on);
  check_number(kFused, "fake_quant_on", fake_quant_on);
  check_fused_dtypes(running_min, running_max, scale, zero_point);
  const int64_t axis = per_row_fake_quant ? at::maybe_wrap_dim(ch_axis, self.dim()) : 0;
  const int64_t channels = per_row_fake_quant ? self.size(axis) : 1;
  if (per_row_fake_quant && running_min.numel() == 0) {
    size_statistics(channels, running_min, running_max, scale, zero_point);
  }
  check_statistic("running_min", running_min, channels);
  check_statistic("running_max", running_max, channels);
  check_statistic("scale", scale, channels);
  check_statistic("zero_point", zero_point, channels);
  const Outputs out(self);
  launch(kFused, self.device(),
         [out = OutputArgs(out), low = KernelTensorArg(running_min),
          high = KernelTensorArg(running_max), scale = KernelTensorArg(scale),
          zero_point = KernelTensorArg(zero_point), self = KernelTensorArg::input(self),
          observer_on = KernelTensorArg::input(observer_on),
          fake_quant_on = KernelTensorArg::input(fake_quant_on),
          average = kernels::MovingAverage{averaging_const,
                                           {quant_min, quant_max},
                                           axis,
                                           per_row_fake_quant,
                                           symmetric_quant}] {
           kernels::observe_and_fake_quantize(
               self.alias(), observer_on.alias(), fake_quant_on.alias(),
               {low.alias(), high.alias(), scale.alias(), zero_point.alias()}, average,
               out.alias());
         });
  return {out.numbers, out.mask};
}

}  // namespace

// LITERALINCLUDE START: REGISTER_FAKE_QUANTIZE
void register_fake_quantize(torch::Library& m) {
  m.impl("fake_quantize_per_tensor_affine_cachemask", fake_quantize);
  m.impl("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
         fake_quantize_params);
  m.impl("fake_quantize_per_channel_affine_cachemask", fake_quantize_channels);
  m.impl("_fake_quantize_learnable_per_tensor_affine",
         at::native::_fake_quantize_learnable_per_tensor_affine);  // (1)
  m.impl("_fake_quantize_learnable_per_tensor_affine_backward", fake_quantize_backward);
  m.impl("_fake_quantize_learnable_per_channel_affine",
         at::native::_fake_quantize_learnable_per_channel_affine);
  m.impl("_fake_quantize_learnable_per_channel_affine_backward",
         fake_quantize_channels_backward);
  m.impl("_fused_moving_avg_obs_fq_helper", observe_and_fake_quantize);
}
// LITERALINCLUDE END: REGISTER_FAKE_QUANTIZE

}  // namespace openreg
