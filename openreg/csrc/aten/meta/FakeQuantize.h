// Meta functions of fake quantization; see docs/modules/quantization.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// All give the rounded numbers, and whether the code of each was in the range from
// quant_min to quant_max, so that its gradient passes.
struct Rounding : MetaFunction {
 protected:
  void check(const char* name, const at::Tensor& self, int64_t quant_min,
             int64_t quant_max);
  void rounded(const at::Tensor& self);
};

struct FakeQuantize : Rounding {
  void meta(const at::Tensor& self, double scale, int64_t zero_point, int64_t quant_min,
            int64_t quant_max);
};

// With the parameters in memory.
struct FakeQuantizeParams : Rounding {
  void meta(const at::Tensor& self, const at::Tensor& scale,
            const at::Tensor& zero_point, const at::Tensor& enabled, int64_t quant_min,
            int64_t quant_max);
};

// With parameters for each channel of `axis`.
struct FakeQuantizeChannels : Rounding {
  void meta(const at::Tensor& self, const at::Tensor& scale,
            const at::Tensor& zero_point, int64_t axis, int64_t quant_min,
            int64_t quant_max);
};

// The gradients of the input, the scale and the zero point, where these are learned.
struct FakeQuantizeBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& scale,
            const at::Tensor& zero_point, int64_t quant_min, int64_t quant_max,
            double grad_factor);
};

struct FakeQuantizeChannelsBackward : MetaFunction {
  void meta(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& scale,
            const at::Tensor& zero_point, int64_t axis, int64_t quant_min,
            int64_t quant_max, double grad_factor);
};

// Observes and rounds: as a whole, or each channel of an axis by itself.
struct ObserveAndFakeQuantize : Rounding {
  void meta(const at::Tensor& self, const at::Tensor& observer_on,
            const at::Tensor& fake_quant_on, at::Tensor& running_min,
            at::Tensor& running_max, at::Tensor& scale, at::Tensor& zero_point,
            double averaging_const, int64_t quant_min, int64_t quant_max,
            int64_t ch_axis, bool per_row_fake_quant, bool symmetric_quant);
};

}  // namespace openreg
