// Kernels for tensors of a quantized dtype; see docs/operators/quantized-and-nested.md.
#include "csrc/aten/kernels/QuantizedTensors.h"

#include <ATen/ops/_make_per_channel_quantized_tensor.h>
#include <ATen/ops/_make_per_tensor_quantized_tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/quantize_per_channel.h>
#include <ATen/ops/quantize_per_tensor.h>

#include "csrc/kernels/cpu/Quiet.h"

namespace openreg::kernels {
namespace {

// The same memory, as a dense tensor of integers.
at::Tensor integers(const at::Tensor& codes) {
  return at::from_blob(codes.data_ptr(), codes.sizes(), codes.strides(),
                       c10::toUnderlying(codes.scalar_type()));
}

}  // namespace

void quantize(const at::Tensor& self, double scale, int64_t zero_point,
              const at::Tensor& codes) {
  const cpu::Quiet quiet;  // the host half has warned
  integers(codes).copy_(
      at::quantize_per_tensor(self, scale, zero_point, codes.scalar_type()).int_repr());
}

void quantize_channels(const at::Tensor& self, const at::Tensor& scales,
                       const at::Tensor& zero_points, int64_t axis,
                       const at::Tensor& codes) {
  const cpu::Quiet quiet;  // the host half has warned
  integers(codes).copy_(
      at::quantize_per_channel(self, scales, zero_points, axis, codes.scalar_type())
          .int_repr());
}

void dequantize(const at::Tensor& codes, double scale, int64_t zero_point,
                const at::Tensor& out) {
  const cpu::Quiet quiet;  // the host half has warned
  out.copy_(at::_make_per_tensor_quantized_tensor(integers(codes), scale, zero_point)
                .dequantize());
}

void dequantize_channels(const at::Tensor& codes, const at::Tensor& scales,
                         const at::Tensor& zero_points, int64_t axis,
                         const at::Tensor& out) {
  const cpu::Quiet quiet;  // the host half has warned
  out.copy_(
      at::_make_per_channel_quantized_tensor(integers(codes), scales, zero_points, axis)
          .dequantize());
}

void int_repr(const at::Tensor& codes, const at::Tensor& out) {
  out.copy_(integers(codes));
}

}  // namespace openreg::kernels
