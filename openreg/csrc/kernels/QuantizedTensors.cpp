// Kernels of tensors of a quantized dtype; see docs/operators/quantized-and-nested.md.
#include "csrc/kernels/QuantizedTensors.h"

#include <ATen/ops/_make_per_channel_quantized_tensor.h>
#include <ATen/ops/_make_per_tensor_quantized_tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/quantize_per_channel.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/Launch.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg {
namespace {

using at::Tensor;

// The same memory, as a dense tensor of integers.
at::Tensor integers(const at::Tensor& codes) {
  return at::from_blob(codes.data_ptr(), codes.sizes(), codes.strides(),
                       c10::toUnderlying(codes.scalar_type()));
}

}  // namespace

void kernels::quantize(const Tensor& self, double scale, int64_t zero_point,
                       Tensor& codes) {
  cpu::launch(
      "quantize_per_tensor",
      [](const Tensor& numbers, double scale_of, int64_t zero, Tensor& out) {
        const IgnoreWarnings ignored;  // the host half has warned
        integers(out).copy_(
            at::quantize_per_tensor(numbers, scale_of, zero, out.scalar_type())
                .int_repr());
      },
      self, scale, zero_point, codes);
}

void kernels::quantize_channels(const Tensor& self, const Tensor& scales,
                                const Tensor& zero_points, int64_t axis,
                                Tensor& codes) {
  cpu::launch(
      "quantize_per_channel",
      [](const Tensor& numbers, const Tensor& scales_of, const Tensor& zeros,
         int64_t dim, Tensor& out) {
        const IgnoreWarnings ignored;
        integers(out).copy_(
            at::quantize_per_channel(numbers, scales_of, zeros, dim, out.scalar_type())
                .int_repr());
      },
      self, scales, zero_points, axis, codes);
}

void kernels::dequantize(const Tensor& codes, double scale, int64_t zero_point,
                         Tensor& out) {
  cpu::launch(
      "dequantize",
      [](const Tensor& quantized, double scale_of, int64_t zero, Tensor& numbers) {
        const IgnoreWarnings ignored;
        numbers.copy_(
            at::_make_per_tensor_quantized_tensor(integers(quantized), scale_of, zero)
                .dequantize());
      },
      codes, scale, zero_point, out);
}

void kernels::dequantize_channels(const Tensor& codes, const Tensor& scales,
                                  const Tensor& zero_points, int64_t axis,
                                  Tensor& out) {
  cpu::launch(
      "dequantize",
      [](const Tensor& quantized, const Tensor& scales_of, const Tensor& zeros,
         int64_t dim, Tensor& numbers) {
        const IgnoreWarnings ignored;
        numbers.copy_(at::_make_per_channel_quantized_tensor(integers(quantized),
                                                             scales_of, zeros, dim)
                          .dequantize());
      },
      codes, scales, zero_points, axis, out);
}

void kernels::int_repr(const Tensor& codes, Tensor& out) {
  cpu::launch(
      "int_repr",
      [](const Tensor& quantized, Tensor& numbers) {
        numbers.copy_(integers(quantized));
      },
      codes, out);
}

}  // namespace openreg
