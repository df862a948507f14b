// Meta functions of batch normalization over several processes: the operators of
// torch/nn/modules/_functions.py, SyncBatchNorm; see docs/modules/sync-batch-norm.md.
#pragma once

#include <optional>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// In all of them `input` is [N, C, *], the other tensors are [C] unless they say
// otherwise. Statistics of float16 and bfloat16 are float32. Errors: RuntimeError for
// other sizes or devices, NotImplementedError for a dtype that is not floating.

// Mean, and 1 / sqrt(variance + eps), of this process' part.
struct BatchNormStats : MetaFunction {
  void meta(const at::Tensor& input, double eps);
};

// The same of all parts: `mean` and `invstd` are [P, C], `counts` [P] has the number of
// elements of each part. Updates the running statistics, if they are given.
struct BatchNormGatherStats : MetaFunction {
  void meta(const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
            const std::optional<at::Tensor>& running_mean,
            const std::optional<at::Tensor>& running_var, double momentum, double eps,
            const at::Tensor& counts);
  void meta(const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
            const std::optional<at::Tensor>& running_mean,
            const std::optional<at::Tensor>& running_var, double momentum, double eps,
            int64_t count);

 private:
  void gather(const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
              const std::optional<at::Tensor>& running_mean,
              const std::optional<at::Tensor>& running_var, int64_t parts);
};

// (input - mean) * invstd * weight + bias, in the dtype of `input`.
struct BatchNormElemt : MetaFunction {
  void meta(const at::Tensor& input, const std::optional<at::Tensor>& weight,
            const std::optional<at::Tensor>& bias, const at::Tensor& mean,
            const at::Tensor& invstd, double eps);
};

// Of this process' part: the sums of grad_out and of grad_out * (input - mean), the
// gradients of weight and bias. What is not requested is undefined.
struct BatchNormBackwardReduce : MetaFunction {
  void meta(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
            const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
            bool input_g, bool weight_g, bool bias_g);
};

// The gradient of `input`, from the sums over all parts; `count` is as `counts` above.
struct BatchNormBackwardElemt : MetaFunction {
  void meta(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
            const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
            const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu,
            const at::Tensor& count);
};

}  // namespace openreg
