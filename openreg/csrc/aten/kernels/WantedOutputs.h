// Outputs that the caller of a kernel may leave out; see docs/operators/composite.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace openreg::kernels {

// Copies `values` to an output, unless the output is undefined.
inline void copy_if_wanted(const at::Tensor& output, const at::Tensor& values) {
  if (output.defined()) {
    output.copy_(values);
  }
}

// The same for three outputs.
inline void copy_wanted(const std::array<at::Tensor, 3>& outputs,
                        const std::tuple<at::Tensor, at::Tensor, at::Tensor>& values) {
  copy_if_wanted(outputs[0], std::get<0>(values));
  copy_if_wanted(outputs[1], std::get<1>(values));
  copy_if_wanted(outputs[2], std::get<2>(values));
}

// The output_mask of ATen's backward functions: which of three outputs are defined.
inline std::array<bool, 3> mask_of(const std::array<at::Tensor, 3>& outputs) {
  return {outputs[0].defined(), outputs[1].defined(), outputs[2].defined()};
}

}  // namespace openreg::kernels
