// Group normalization; see docs/opencl/kernels.md.
#include <ATen/Operators.h>

#include "csrc/aten/meta/Normalization.h"
#include "csrc/kernels/NormLaunch.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::kernels::norm {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

bool group_norm(const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t batch, int64_t channels,
                int64_t spatial, int64_t groups, double eps, const Tensor& out,
                const Tensor& mean, const Tensor& rstd) {
  return normalize(Kind::Group, group_shape(batch, channels, spatial, groups), input,
                   or_undefined(weight), or_undefined(bias), {{}, {}, false, 0}, eps,
                   out, mean, rstd);
}

bool group_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& mean,
                         const Tensor& rstd, const OptionalTensor& weight,
                         int64_t batch, int64_t channels, int64_t spatial,
                         int64_t groups, std::array<bool, 3>, const Tensor& of_input,
                         const Tensor& of_weight, const Tensor& of_bias) {
  return differentiate(Kind::Group, group_shape(batch, channels, spatial, groups), grad,
                       input, mean, rstd, or_undefined(weight), /*given=*/false, 0,
                       {of_input, of_weight, of_bias});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  opencl::structured_or_fall_back_without_out<op::native_group_norm, GroupNorm>(
      m, group_norm);
  opencl::structured_or_fall_back_without_out<op::native_group_norm_backward,
                                              GroupNormBackward>(m,
                                                                 group_norm_backward);
}

}  // namespace ocl::kernels::norm
