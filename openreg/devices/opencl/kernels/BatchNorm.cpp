// Batch normalization; see docs/opencl/kernels.md.
#include <ATen/Operators.h>

#include "csrc/aten/meta/Normalization.h"
#include "csrc/kernels/NormLaunch.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::kernels::norm {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

bool normalize_batch(const Tensor& input, const OptionalTensor& weight,
                     const OptionalTensor& bias, const OptionalTensor& running_mean,
                     const OptionalTensor& running_var, bool training, double momentum,
                     double eps, const Tensor& out, const Tensor& mean,
                     const Tensor& rstd) {
  const Running running{or_undefined(running_mean), or_undefined(running_var),
                        !training, momentum};
  return normalize(Kind::Batch, batch_shape(input), input, or_undefined(weight),
                   or_undefined(bias), running, eps, out, mean, rstd);
}

// Training updates the running statistics. The fallback copies them back to the device
// only for the operator whose schema says that they are written.
void batch_norm(const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training, double momentum,
                double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  if (normalize_batch(input, weight, bias, running_mean, running_var, training,
                      momentum, eps, out, mean, rstd)) {
    return;
  }
  if (is_given(running_mean) && is_given(running_var)) {
    Tensor averages = *running_mean, variances = *running_var;
    const auto results = opencl::fall_back<op::_native_batch_norm_legit>(
        input, weight, bias, averages, variances, training, momentum, eps);
    out.copy_(std::get<0>(results));
    mean.copy_(std::get<1>(results));
    rstd.copy_(std::get<2>(results));
  } else {
    opencl::fall_back_into<op::native_batch_norm, void>(
        std::tie(input, weight, bias, running_mean, running_var, training, momentum,
                 eps),
        out, mean, rstd);
  }
}

bool without_statistics(const Tensor& input, const OptionalTensor& weight,
                        const OptionalTensor& bias, bool training, double momentum,
                        double eps, const Tensor& out, const Tensor& mean,
                        const Tensor& rstd) {
  return normalize_batch(input, weight, bias, {}, {}, training, momentum, eps, out,
                         mean, rstd);
}

bool batch_norm_backward(const Tensor& grad, const Tensor& input,
                         const OptionalTensor& weight,
                         const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& mean,
                         const OptionalTensor& rstd, bool training, double eps,
                         std::array<bool, 3>, const Tensor& of_input,
                         const Tensor& of_weight, const Tensor& of_bias) {
  const Tensor center = or_undefined(training ? mean : running_mean);
  const Tensor scale = or_undefined(training ? rstd : running_var);
  return center.defined() && scale.defined() &&
         differentiate(Kind::Batch, batch_shape(input), grad, input, center, scale,
                       or_undefined(weight), !training, eps,
                       {of_input, of_weight, of_bias});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using opencl::structured_or_fall_back_without_out;
  structured<op::native_batch_norm, op::native_batch_norm_out, BatchNorm>(m,
                                                                          batch_norm);
  // The same, under the names whose schemas declare what is written.
  structured_without_out<op::_native_batch_norm_legit, BatchNorm>(m, batch_norm);
  structured_or_fall_back_without_out<op::_native_batch_norm_legit_no_stats, BatchNorm>(
      m, without_statistics);
  structured_or_fall_back_without_out<op::native_batch_norm_backward,
                                      BatchNormBackward>(m, batch_norm_backward);
}

}  // namespace ocl::kernels::norm
