// Reductions without a structured meta function; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <tuple>

namespace openreg {

at::Tensor max(const at::Tensor& self);
at::Tensor& max_out(const at::Tensor& self, at::Tensor& out);
at::Tensor min(const at::Tensor& self);
at::Tensor& min_out(const at::Tensor& self, at::Tensor& out);
at::Tensor var(const at::Tensor& self, at::OptionalIntArrayRef dim,
               const std::optional<at::Scalar>& correction, bool keepdim);
at::Tensor& var_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim,
                    at::Tensor& out);
at::Tensor std(const at::Tensor& self, at::OptionalIntArrayRef dim,
               const std::optional<at::Scalar>& correction, bool keepdim);
at::Tensor& std_out(const at::Tensor& self, at::OptionalIntArrayRef dim,
                    const std::optional<at::Scalar>& correction, bool keepdim,
                    at::Tensor& out);
// The host waits for the answer.
bool equal(const at::Tensor& self, const at::Tensor& other);
at::Tensor dot(const at::Tensor& self, const at::Tensor& other);
std::tuple<at::Tensor, at::Tensor> mode(const at::Tensor& self, int64_t dim,
                                        bool keepdim);
std::tuple<at::Tensor&, at::Tensor&> mode_out(const at::Tensor& self, int64_t dim,
                                              bool keepdim, at::Tensor& values,
                                              at::Tensor& indices);
std::tuple<at::Tensor&, at::Tensor&> kthvalue_out(const at::Tensor& self, int64_t k,
                                                  int64_t dim, bool keepdim,
                                                  at::Tensor& values,
                                                  at::Tensor& indices);

}  // namespace openreg
