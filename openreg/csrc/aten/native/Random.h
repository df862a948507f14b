// Operators that draw random numbers; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

// The signatures are those of the schemas in native_functions.yaml.
namespace openreg {

using OptionalGenerator = std::optional<at::Generator>;

// RandomContinuous.cpp
at::Tensor& uniform_(at::Tensor& self, double from, double to, OptionalGenerator);
at::Tensor& normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& log_normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& exponential_(at::Tensor& self, double lambda, OptionalGenerator);
at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, OptionalGenerator);

// The same file: mean, std or both are tensors.
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

// RandomDiscrete.cpp
at::Tensor& random_(at::Tensor& self, OptionalGenerator);
at::Tensor& random_from_(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                         OptionalGenerator);
at::Tensor& random_to_(at::Tensor& self, int64_t to, OptionalGenerator);
at::Tensor& bernoulli_float_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& bernoulli_tensor_(at::Tensor& self, const at::Tensor& p, OptionalGenerator);
at::Tensor& bernoulli_out(const at::Tensor& p, OptionalGenerator, at::Tensor& out);
at::Tensor& geometric_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& randperm_out(int64_t n, OptionalGenerator, at::Tensor& out);

// RandomMultinomial.cpp
at::Tensor multinomial(const at::Tensor& probabilities, int64_t samples,
                       bool replacement, OptionalGenerator);
at::Tensor& multinomial_out(const at::Tensor& probabilities, int64_t samples,
                            bool replacement, OptionalGenerator, at::Tensor& out);

// RandomSamplers.cpp: each element takes as many random numbers as it needs.
at::Tensor poisson(const at::Tensor& rate, OptionalGenerator);
at::Tensor binomial(const at::Tensor& count, const at::Tensor& probability,
                    OptionalGenerator);
at::Tensor standard_gamma(const at::Tensor& alpha, OptionalGenerator);
at::Tensor sample_dirichlet(const at::Tensor& alpha, OptionalGenerator);

// RandomDropout.cpp
std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train);
at::Tensor native_dropout_backward(const at::Tensor& grad, const at::Tensor& mask,
                                   double scale);
at::Tensor rrelu_with_noise(const at::Tensor& self, at::Tensor& noise,
                            const at::Scalar& lower, const at::Scalar& upper,
                            bool training, OptionalGenerator);
at::Tensor& rrelu_with_noise_(at::Tensor& self, at::Tensor& noise,
                              const at::Scalar& lower, const at::Scalar& upper,
                              bool training, OptionalGenerator);
at::Tensor& rrelu_with_noise_out(const at::Tensor& self, at::Tensor& noise,
                                 const at::Scalar& lower, const at::Scalar& upper,
                                 bool training, OptionalGenerator, at::Tensor& out);

}  // namespace openreg
