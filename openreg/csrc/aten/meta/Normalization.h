// Meta functions of layer, group and batch normalization; see
// docs/operators/meta-functions.md.
#pragma once

#include <array>
#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct LayerNorm : MetaFunction {
  void meta(const at::Tensor& input, at::IntArrayRef normalized_shape,
            const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias, double eps);
};

struct NormalizationBackward : MetaFunction {
 protected:
  void gradients(const at::Tensor& input, at::MemoryFormat format,
                 const std::optional<at::Tensor>& weight, at::IntArrayRef weight_sizes,
                 std::array<bool, 3> mask);
};

struct LayerNormBackward : NormalizationBackward {
  void meta(const at::Tensor& grad_out, const at::Tensor& input,
            at::IntArrayRef normalized_shape, const at::Tensor& mean,
            const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias, std::array<bool, 3> output_mask);
};

struct GroupNorm : MetaFunction {
  void meta(const at::Tensor& input, const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias, int64_t N, int64_t C, int64_t HxW,
            int64_t group, double eps);
};

struct GroupNormBackward : NormalizationBackward {
  void meta(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
            const at::Tensor& rstd, const std::optional<at::Tensor>& weight, int64_t N,
            int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> output_mask);
};

struct BatchNorm : MetaFunction {
  void meta(const at::Tensor& input, const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias,
            const std::optional<at::Tensor>& running_mean,
            const std::optional<at::Tensor>& running_var, bool training,
            double momentum, double eps);
  // Without statistics to update.
  void meta(const at::Tensor& input, const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias, bool training, double momentum,
            double eps) {
    meta(input, weight, bias, std::nullopt, std::nullopt, training, momentum, eps);
  }
};

struct BatchNormBackward : NormalizationBackward {
  void meta(const at::Tensor& grad_out, const at::Tensor& input,
            const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& running_mean,
            const std::optional<at::Tensor>& running_var,
            const std::optional<at::Tensor>& save_mean,
            const std::optional<at::Tensor>& save_invstd, bool train, double eps,
            std::array<bool, 3> output_mask);
};

}  // namespace openreg
