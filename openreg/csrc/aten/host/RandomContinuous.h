// Uniform, normal and what follows from them; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

using OptionalGenerator = std::optional<at::Generator>;

at::Tensor& uniform_(at::Tensor& self, double from, double to, OptionalGenerator);
at::Tensor& normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& log_normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& exponential_(at::Tensor& self, double lambda, OptionalGenerator);
at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, OptionalGenerator);

// Mean, std or both are tensors.
at::Tensor normal_tensor_float(const at::Tensor& mean, double std, OptionalGenerator);
at::Tensor normal_float_tensor(double mean, const at::Tensor& std, OptionalGenerator);
at::Tensor normal_tensor_tensor(const at::Tensor& mean, const at::Tensor& std,
                                OptionalGenerator);
at::Tensor& normal_tensor_float_out(const at::Tensor& mean, double std,
                                    OptionalGenerator, at::Tensor& out);
at::Tensor& normal_float_tensor_out(double mean, const at::Tensor& std,
                                    OptionalGenerator, at::Tensor& out);
at::Tensor& normal_tensor_tensor_out(const at::Tensor& mean, const at::Tensor& std,
                                     OptionalGenerator, at::Tensor& out);

}  // namespace openreg
