// Divides integers by zero without a fault; see docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace openreg::cpu {

// Kernels with the signatures of at::cpu::fmod_outf and its like. The CPU's kernels
// throw where an integer is divided by zero, and the smallest integer divided by -1
// ends the process. A device cannot throw: these give the values of RISC-V's divider.
//   x / 0 = -1, all bits set       x % 0 = x
//   smallest / -1 = smallest       smallest % -1 = 0
at::Tensor& fmod_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out);
at::Tensor& remainder_out(const at::Tensor& self, const at::Tensor& other,
                          at::Tensor& out);
at::Tensor& floor_divide_out(const at::Tensor& self, const at::Tensor& other,
                             at::Tensor& out);
at::Tensor& div_mode_out(const at::Tensor& self, const at::Tensor& other,
                         std::optional<std::string_view> mode, at::Tensor& out);

}  // namespace openreg::cpu
