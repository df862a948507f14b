// Distinct values; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg {

// The values, for each element of the input the index of its value, and how often each
// value occurs.
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

ThreeTensors unique2(const at::Tensor& self, bool sorted, bool inverse, bool counts);
std::tuple<at::Tensor, at::Tensor> unique(const at::Tensor& self, bool sorted,
                                          bool inverse);
ThreeTensors unique_dim(const at::Tensor& self, int64_t dim, bool sorted, bool inverse,
                        bool counts);
ThreeTensors unique_dim_consecutive(const at::Tensor& self, int64_t dim, bool inverse,
                                    bool counts);
ThreeTensors unique_consecutive(const at::Tensor& self, bool inverse, bool counts,
                                std::optional<int64_t> dim);

}  // namespace openreg
