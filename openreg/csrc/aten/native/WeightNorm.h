// Weight normalization; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace openreg {

std::tuple<at::Tensor, at::Tensor> weight_norm_interface(const at::Tensor& v,
                                                         const at::Tensor& g,
                                                         int64_t dim);
std::tuple<at::Tensor, at::Tensor> weight_norm_interface_backward(
    const at::Tensor& grad_w, const at::Tensor& saved_v, const at::Tensor& saved_g,
    const at::Tensor& saved_norms, int64_t dim);

}  // namespace openreg
