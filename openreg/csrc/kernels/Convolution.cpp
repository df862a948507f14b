// Kernels of convolutions, forward and backward; see docs/operators/composite.md.
#include "csrc/kernels/Convolution.h"

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg {

// LITERALINCLUDE START: CONVOLUTION_KERNEL
void kernels::convolution(const at::Tensor& input, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                          at::IntArrayRef padding, at::IntArrayRef dilation,
                          bool transposed, at::IntArrayRef output_padding,
                          int64_t groups, at::Tensor& output) {
  cpu::launch("convolution", cpu::out_variant<at::convolution>, input, weight, bias,
              stride, padding, dilation, transposed, output_padding, groups, output);
}
// LITERALINCLUDE END: CONVOLUTION_KERNEL

void kernels::convolution_backward(const at::Tensor& grad_output,
                                   const at::Tensor& input, const at::Tensor& weight,
                                   int64_t channels, at::IntArrayRef stride,
                                   at::IntArrayRef padding, at::IntArrayRef dilation,
                                   bool transposed, at::IntArrayRef output_padding,
                                   int64_t groups, std::array<at::Tensor, 3>& grads) {
  const std::array<bool, 3> mask{grads[0].defined(), grads[1].defined(),
                                 grads[2].defined()};
  cpu::launch("convolution_backward", cpu::out_variant<at::convolution_backward>,
              grad_output, input, weight, at::IntArrayRef(channels), stride, padding,
              dilation, transposed, output_padding, groups, mask, grads[0], grads[1],
              grads[2]);
}

}  // namespace openreg
