// The host half of tensors of a quantized dtype; see
// docs/operators/quantized-and-nested.md.
#include <ATen/core/Tensor.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/dequantize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/quantize_per_channel.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/quantized/Quantizer.h>
#include <torch/library.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/Fallback.h"
#include "csrc/aten/ops/HostCheck.h"
#include "csrc/kernels/QuantizedTensors.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {
namespace {

// The kernels write one code for each number, of one or four bytes. torch has dtypes of
// including two and four bits, and zero points of floating point: these fall back.
bool has_kernel(at::ScalarType dtype) {
  return dtype == at::kQInt8 || dtype == at::kQUInt8 || dtype == at::kQInt32;
}

at::Tensor make_quantized(const at::Tensor& self, at::QuantizerPtr quantizer) {
  const OpenRegGuard scope(self.device().index());
  const at::ScalarType dtype = quantizer->scalar_type();
  return at::new_qtensor(
      self.sizes(),
      self.options().dtype(dtype).memory_format(self.suggest_memory_format()),
      std::move(quantizer));
}

void check_float(const char* name, const at::Tensor& self) {
  TORCH_CHECK(self.scalar_type() == at::kFloat, "openreg: ", name,
              ": expected a Float tensor, but got ", self.scalar_type());
}

void check_zero_point(const char* name, int64_t zero_point, at::ScalarType dtype) {
  const bool fits =
      dtype == at::kQInt8    ? zero_point >= INT8_MIN && zero_point <= INT8_MAX
      : dtype == at::kQUInt8 ? zero_point >= 0 && zero_point <= UINT8_MAX
                             : zero_point >= INT32_MIN && zero_point <= INT32_MAX;
  TORCH_CHECK(fits, "openreg: ", name, ": the zero point ", zero_point,
              " does not fit into ", dtype);
}

// LITERALINCLUDE START: QUANTIZE_PER_TENSOR
at::Tensor quantize_per_tensor(const at::Tensor& self, double scale, int64_t zero_point,
                               at::ScalarType dtype) {
  if (!has_kernel(dtype)) {
    count_fallback("aten::quantize_per_tensor");
    return at::quantize_per_tensor(self.cpu(), scale, zero_point, dtype)
        .to(self.device());
  }
  check_float("quantize_per_tensor", self);
  check_zero_point("quantize_per_tensor", zero_point, dtype);
  at::Tensor out = make_quantized(
      self, at::make_per_tensor_affine_quantizer(scale, zero_point, dtype));
  if (out.numel() > 0) {
    const at::Tensor dense = self.contiguous(self.suggest_memory_format());
    kernels::quantize(dense, scale, zero_point, out);
  }
  return out;
}
// LITERALINCLUDE END: QUANTIZE_PER_TENSOR

at::Tensor quantize_per_tensor_params(const at::Tensor& self, const at::Tensor& scale,
                                      const at::Tensor& zero_point,
                                      at::ScalarType dtype) {
  return openreg::quantize_per_tensor(self, scale.item().toDouble(),
                                      zero_point.item().toLong(), dtype);
}

at::Tensor quantize_per_channel(const at::Tensor& self, const at::Tensor& scales,
                                const at::Tensor& zero_points, int64_t axis,
                                at::ScalarType dtype) {
  constexpr const char* kName = "quantize_per_channel";
  check_same_device(kName, self, scales, zero_points);
  if (!has_kernel(dtype) || at::isFloatingType(zero_points.scalar_type())) {
    count_fallback("aten::quantize_per_channel");
    return at::quantize_per_channel(self.cpu(), scales.cpu(), zero_points.cpu(), axis,
                                    dtype)
        .to(self.device());
  }
  check_float(kName, self);
  check_channels(kName, self, scales, zero_points, axis);
  if (zero_points.numel() > 0) {  // waits for the device, as torch's own kernels do
    const auto [low, high] = at::aminmax(zero_points);
    check_zero_point(kName, low.item<int64_t>(), dtype);
    check_zero_point(kName, high.item<int64_t>(), dtype);
  }
  const auto quantizer =
      at::make_per_channel_affine_quantizer(scales, zero_points, axis, dtype);
  at::Tensor out = make_quantized(self, quantizer);
  if (out.numel() > 0) {
    const at::Tensor dense = self.contiguous(self.suggest_memory_format());
    kernels::quantize_channels(dense, out.q_per_channel_scales(),
                               out.q_per_channel_zero_points(), axis, out);
  }
  return out;
}

// Of a quantized tensor.
at::Tensor dequantize(const at::Tensor& self) {
  const at::QScheme scheme = self.qscheme();
  if (!has_kernel(self.scalar_type()) ||
      (scheme != at::kPerTensorAffine && scheme != at::kPerChannelAffine)) {
    count_fallback("aten::dequantize.self");
    return at::dequantize(self.cpu()).to(self.device());
  }
  const at::MemoryFormat format = self.suggest_memory_format();
  const at::Tensor codes = self.contiguous(format);
  at::Tensor out = at::empty(
      self.sizes(), at::device(self.device()).dtype(at::kFloat).memory_format(format));
  if (out.numel() == 0) {
    return out;
  }
  if (scheme == at::kPerTensorAffine) {
    kernels::dequantize(codes, self.q_scale(), self.q_zero_point(), out);
  } else {
    kernels::dequantize_channels(codes, self.q_per_channel_scales(),
                                 self.q_per_channel_zero_points(),
                                 self.q_per_channel_axis(), out);
  }
  return out;
}

at::Tensor int_repr(const at::Tensor& self) {
  if (!has_kernel(self.scalar_type())) {
    count_fallback("aten::int_repr");
    return self.cpu().int_repr().to(self.device());
  }
  const at::Tensor codes = self.contiguous(self.suggest_memory_format());
  at::Tensor out =
      at::empty(self.sizes(), at::device(self.device())
                                  .dtype(c10::toUnderlying(self.scalar_type()))
                                  .memory_format(self.suggest_memory_format()));
  if (out.numel() > 0) {
    kernels::int_repr(codes, out);
  }
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("quantize_per_tensor", quantize_per_tensor);
  m.impl("quantize_per_tensor.tensor_qparams", quantize_per_tensor_params);
  m.impl("quantize_per_channel", quantize_per_channel);
}
TORCH_LIBRARY_IMPL(aten, QuantizedPrivateUse1, m) {
  m.impl("dequantize.self", dequantize);
  m.impl("int_repr", int_repr);
}

}  // namespace
}  // namespace openreg
