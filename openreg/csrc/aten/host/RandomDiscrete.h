// Integers, coins and permutations; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

using OptionalGenerator = std::optional<at::Generator>;

at::Tensor& random_(at::Tensor& self, OptionalGenerator);
at::Tensor& random_from_(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                         OptionalGenerator);
at::Tensor& random_to_(at::Tensor& self, int64_t to, OptionalGenerator);
at::Tensor& bernoulli_float_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& bernoulli_tensor_(at::Tensor& self, const at::Tensor& p, OptionalGenerator);
at::Tensor& bernoulli_out(const at::Tensor& p, OptionalGenerator, at::Tensor& out);
at::Tensor& geometric_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& randperm_out(int64_t n, OptionalGenerator, at::Tensor& out);

}  // namespace openreg
