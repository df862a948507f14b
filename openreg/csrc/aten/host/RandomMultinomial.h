// Draws of indices by their probabilities; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace openreg {

using OptionalGenerator = std::optional<at::Generator>;

at::Tensor multinomial(const at::Tensor& probabilities, int64_t samples,
                       bool replacement, OptionalGenerator);
at::Tensor& multinomial_out(const at::Tensor& probabilities, int64_t samples,
                            bool replacement, OptionalGenerator, at::Tensor& out);

}  // namespace openreg
