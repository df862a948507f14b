// Kernels that round to the values of a code; see docs/modules/fake-quantize.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>

namespace openreg::kernels {

// The codes that a quantized number can have.
struct CodeRange {
  int64_t min;
  int64_t max;
};

// How one step of quantization-aware training observes and rounds: as a whole, or each
// channel of `axis` by itself.
struct MovingAverage {
  double averaging_constant;
  CodeRange codes;
  int64_t axis;
  bool per_channel;
  bool symmetric;
};

// The outputs of a forward: the rounded numbers, and whether the code of each was in
// the range, so that its gradient passes.
struct Rounded {
  at::Tensor numbers;
  at::Tensor mask;
};

void fake_quantize(const at::Tensor& self, double scale, int64_t zero_point,
                   CodeRange codes, const Rounded& out);

// With the parameters in memory. Copies self if `enabled` is 0.
void fake_quantize_params(const at::Tensor& self, const at::Tensor& scale,
                          const at::Tensor& zero_point, const at::Tensor& enabled,
                          CodeRange codes, const Rounded& out);

// With parameters for each channel of `axis`; the scale is of float32.
void fake_quantize_channels(const at::Tensor& self, const at::Tensor& scale,
                            const at::Tensor& zero_point, int64_t axis, CodeRange codes,
                            const Rounded& out);

// The gradients of the input, the scale and the zero point, all of float32, where these
// are learned: of one channel, or of each.
using Gradients = std::array<at::Tensor, 3>;
void fake_quantize_backward(const at::Tensor& grad, const at::Tensor& self,
                            const at::Tensor& scale, const at::Tensor& zero_point,
                            CodeRange codes, double grad_factor, const Gradients& out);
void fake_quantize_channels_backward(const at::Tensor& grad, const at::Tensor& self,
                                     const at::Tensor& scale,
                                     const at::Tensor& zero_point, int64_t axis,
                                     CodeRange codes, double grad_factor,
                                     const Gradients& out);

// What moves from step to step: the range of the numbers, and the parameters that
// follow from it.
struct Statistics {
  at::Tensor running_min;
  at::Tensor running_max;
  at::Tensor scale;
  at::Tensor zero_point;
};

// Moves the range towards that of self if `observe` is not 0. If `quantize` is not 0,
// chooses the parameters and rounds self; else copies it.
void observe_and_fake_quantize(const at::Tensor& self, const at::Tensor& observe,
                               const at::Tensor& quantize, const Statistics& statistics,
                               const MovingAverage& average, const Rounded& out);

}  // namespace openreg::kernels
