// Meta functions of fake quantization; see docs/modules/quantization.md.
#include "csrc/aten/meta/FakeQuantize.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/aminmax.h>

#include <limits>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using at::Tensor;

constexpr const char* kTensor = "fake_quantize_per_tensor_affine";
constexpr const char* kChannels = "fake_quantize_per_channel_affine";
constexpr const char* kFused = "_fused_moving_avg_obs_fq_helper";

void check_zero_point(const char* name, int64_t zero_point, int64_t quant_min,
                      int64_t quant_max) {
  TORCH_CHECK(zero_point >= quant_min && zero_point <= quant_max, "openreg: ", name,
              ": the zero point ", zero_point, " must be between quant_min, ",
              quant_min, ", and quant_max, ", quant_max);
}

void check_number(const char* name, const char* what, const Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1 && !tensor.is_complex(), "openreg: ", name, ": ",
              what, " must be one real number, but is ", tensor.scalar_type(), " of ",
              tensor.sizes());
}

void check_float(const char* name, const Tensor& grad, const Tensor& self,
                 const Tensor& scale, const Tensor& zero_point) {
  for (const Tensor& tensor : {grad, self, scale, zero_point}) {
    TORCH_CHECK(tensor.scalar_type() == at::kFloat, "openreg: ", name,
                ": expected Float tensors, but got ", tensor.scalar_type());
  }
}

void check_gradient(const char* name, const Tensor& grad, const Tensor& self,
                    int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK(grad.sizes() == self.sizes(), "openreg: ", name,
              ": the gradient has sizes ", grad.sizes(), ", but the input ",
              self.sizes());
  TORCH_CHECK(quant_min <= 0 && quant_max >= 0, "openreg: ", name,
              ": the range of codes must include 0, but is ", quant_min, " to ",
              quant_max);
}

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

}  // namespace

void Rounding::check(const char* name, const Tensor& self, int64_t quant_min,
                     int64_t quant_max) {
  const at::ScalarType dtype = self.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(dtype == at::kFloat || dtype == at::kDouble ||
                                  dtype == at::kHalf || dtype == at::kBFloat16,
                              "openreg: ", name, " is not implemented for dtype ",
                              dtype, "; convert the tensor to a floating-point dtype");
  TORCH_CHECK(quant_min <= quant_max, "openreg: ", name, ": quant_min, ", quant_min,
              ", must not be greater than quant_max, ", quant_max);
}

void Rounding::rounded(const Tensor& self) {
  output_like(0, self);
  set_output_raw_strided(1, self.sizes(), maybe_get_output(0).strides(),
                         self.options().dtype(at::kBool));
}

// LITERALINCLUDE START: FAKE_QUANTIZE
void FakeQuantize::meta(const Tensor& self, double, int64_t zero_point,
                        int64_t quant_min, int64_t quant_max) {
  check(kTensor, self, quant_min, quant_max);
  check_zero_point(kTensor, zero_point, quant_min, quant_max);
  rounded(self);
}
// LITERALINCLUDE END: FAKE_QUANTIZE

void FakeQuantizeParams::meta(const Tensor& self, const Tensor& scale,
                              const Tensor& zero_point, const Tensor& enabled,
                              int64_t quant_min, int64_t quant_max) {
  check(kTensor, self, quant_min, quant_max);
  check_number(kTensor, "scale", scale);
  check_number(kTensor, "zero_point", zero_point);
  check_number(kTensor, "fake_quant_enabled", enabled);
  rounded(self);
}

void FakeQuantizeChannels::meta(const Tensor& self, const Tensor& scale,
                                const Tensor& zero_point, int64_t axis,
                                int64_t quant_min, int64_t quant_max) {
  const at::ScalarType zero_dtype = zero_point.scalar_type();
  check(kChannels, self, quant_min, quant_max);
  check_channels(kChannels, self, scale, zero_point, axis);
  TORCH_CHECK(
      (scale.scalar_type() == at::kFloat || scale.scalar_type() == at::kBFloat16) &&
          (zero_dtype == at::kInt || zero_dtype == at::kFloat ||
           zero_dtype == at::kHalf),
      "openreg: ", kChannels, ": expected a scale of Float or BFloat16, and a zero ",
      "point of Int, Float or Half, but got ", scale.scalar_type(), " and ",
      zero_dtype);
  if (self.numel() > 0 && zero_dtype == at::kInt) {
    const auto [low, high] = at::aminmax(zero_point);  // waits, as torch's functions do
    check_zero_point(kChannels, low.item<int32_t>(), quant_min, quant_max);
    check_zero_point(kChannels, high.item<int32_t>(), quant_min, quant_max);
  }
  rounded(self);
}

void FakeQuantizeBackward::meta(const Tensor& grad, const Tensor& self,
                                const Tensor& scale, const Tensor& zero_point,
                                int64_t quant_min, int64_t quant_max, double) {
  constexpr const char* kName = "_fake_quantize_learnable_per_tensor_affine_backward";
  check_float(kName, grad, self, scale, zero_point);
  check_gradient(kName, grad, self, quant_min, quant_max);
  TORCH_CHECK(scale.dim() == 1 && zero_point.dim() == 1, "openreg: ", kName,
              ": expected one scale and one zero point, but got ", scale.sizes(),
              " and ", zero_point.sizes());
  check_number(kName, "scale", scale);
  check_number(kName, "zero_point", zero_point);
  output_like(0, self);
  output_like(1, scale);
  output_like(2, zero_point);
}

// With an input of bfloat16, all become float32.
void FakeQuantizeChannelsBackward::meta(const Tensor& grad, const Tensor& self,
                                        const Tensor& scale, const Tensor& zero_point,
                                        int64_t axis, int64_t quant_min,
                                        int64_t quant_max, double) {
  constexpr const char* kName = "_fake_quantize_learnable_per_channel_affine_backward";
  if (self.scalar_type() != at::kBFloat16) {
    check_float(kName, grad, self, scale, zero_point);
  }
  check_gradient(kName, grad, self, quant_min, quant_max);
  check_channels(kName, self, scale, zero_point, axis);
  output(0, self.sizes(), self.options().dtype(at::kFloat),
         self.suggest_memory_format());
  output(1, scale.sizes(), scale.options().dtype(at::kFloat));
  output(2, zero_point.sizes(), zero_point.options().dtype(at::kFloat));
}

void ObserveAndFakeQuantize::meta(const Tensor& self, const Tensor& observer_on,
                                  const Tensor& fake_quant_on, Tensor& running_min,
                                  Tensor& running_max, Tensor& scale,
                                  Tensor& zero_point, double, int64_t quant_min,
                                  int64_t quant_max, int64_t ch_axis,
                                  bool per_row_fake_quant, bool) {
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
  rounded(self);
}

}  // namespace openreg
