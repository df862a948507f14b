// Registers activation functions, nll_loss and their derivatives; see
// docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/elu_backward_meta.h>
#include <ATen/ops/elu_meta.h>
#include <ATen/ops/glu_meta.h>
#include <ATen/ops/hardshrink_backward_meta.h>
#include <ATen/ops/hardshrink_meta.h>
#include <ATen/ops/hardsigmoid_backward_meta.h>
#include <ATen/ops/hardsigmoid_meta.h>
#include <ATen/ops/leaky_relu_backward_meta.h>
#include <ATen/ops/leaky_relu_meta.h>
#include <ATen/ops/logit_backward_meta.h>
#include <ATen/ops/mish_meta.h>
#include <ATen/ops/nll_loss_backward_meta.h>
#include <ATen/ops/nll_loss_forward_meta.h>
#include <ATen/ops/sigmoid_backward_meta.h>
#include <ATen/ops/silu_backward_meta.h>
#include <ATen/ops/silu_meta.h>
#include <ATen/ops/softplus_backward_meta.h>
#include <ATen/ops/softplus_meta.h>
#include <ATen/ops/softshrink_backward_meta.h>
#include <ATen/ops/softshrink_meta.h>
#include <ATen/ops/tanh_backward_meta.h>
#include <ATen/ops/threshold_backward_meta.h>
#include <ATen/ops/threshold_meta.h>

#include <ATen/ops/binary_cross_entropy_backward.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/hardtanh_backward.h>
#include <ATen/ops/huber_loss_backward.h>
#include <ATen/ops/log_sigmoid_backward.h>
#include <ATen/ops/mse_loss_backward.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/smooth_l1_loss_backward.h>

#include <ATen/ops/_prelu_kernel.h>

#include "csrc/aten/meta/Activation.h"
#include "csrc/aten/structured/Pointwise.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::elu, op::elu_out, meta::structured_elu, at::cpu::elu_outf>(m);
  cpu::on_cpu<op::elu_backward, op::elu_backward_grad_input,
              meta::structured_elu_backward, at::cpu::elu_backward_outf>(m);
  cpu::on_cpu<op::gelu, op::gelu_out, Gelu, at::cpu::gelu_outf>(m);
  cpu::on_cpu<op::gelu_backward, op::gelu_backward_grad_input, GeluBackward,
              at::cpu::gelu_backward_outf>(m);
  cpu::on_cpu<op::glu, op::glu_out, meta::structured_glu, at::cpu::glu_outf>(m);
  cpu::on_cpu<op::hardshrink, op::hardshrink_out, meta::structured_hardshrink,
              at::cpu::hardshrink_outf>(m);
  cpu::on_cpu<op::hardshrink_backward, op::hardshrink_backward_grad_input,
              meta::structured_hardshrink_backward, at::cpu::hardshrink_backward_outf>(
      m);
  cpu::on_cpu<op::hardsigmoid, op::hardsigmoid_out, meta::structured_hardsigmoid,
              at::cpu::hardsigmoid_outf>(m);
  cpu::on_cpu<op::hardsigmoid_backward, op::hardsigmoid_backward_grad_input,
              meta::structured_hardsigmoid_backward,
              at::cpu::hardsigmoid_backward_outf>(m);
  cpu::on_cpu<op::leaky_relu, op::leaky_relu_out, meta::structured_leaky_relu,
              at::cpu::leaky_relu_outf>(m);
  cpu::on_cpu<op::leaky_relu_backward, op::leaky_relu_backward_grad_input,
              meta::structured_leaky_relu_backward, at::cpu::leaky_relu_backward_outf>(
      m);
  cpu::on_cpu<op::logit_backward, op::logit_backward_grad_input,
              meta::structured_logit_backward, at::cpu::logit_backward_outf>(m);
  cpu::on_cpu<op::mish, op::mish_out, meta::structured_mish, at::cpu::mish_outf>(m);
  cpu::on_cpu<op::sigmoid_backward, op::sigmoid_backward_grad_input,
              meta::structured_sigmoid_backward, at::cpu::sigmoid_backward_outf>(m);
  cpu::on_cpu<op::silu, op::silu_out, meta::structured_silu, at::cpu::silu_outf>(m);
  cpu::on_cpu<op::silu_backward, op::silu_backward_grad_input,
              meta::structured_silu_backward, at::cpu::silu_backward_outf>(m);
  cpu::on_cpu<op::softplus, op::softplus_out, meta::structured_softplus,
              at::cpu::softplus_outf>(m);
  cpu::on_cpu<op::softplus_backward, op::softplus_backward_grad_input,
              meta::structured_softplus_backward, at::cpu::softplus_backward_outf>(m);
  cpu::on_cpu<op::softshrink, op::softshrink_out, meta::structured_softshrink,
              at::cpu::softshrink_outf>(m);
  cpu::on_cpu<op::softshrink_backward, op::softshrink_backward_grad_input,
              meta::structured_softshrink_backward, at::cpu::softshrink_backward_outf>(
      m);
  cpu::on_cpu<op::tanh_backward, op::tanh_backward_grad_input,
              meta::structured_tanh_backward, at::cpu::tanh_backward_outf>(m);
  cpu::on_cpu<op::threshold, op::threshold_out, meta::structured_threshold,
              at::cpu::threshold_outf>(m);
  cpu::on_cpu<op::threshold_backward, op::threshold_backward_grad_input,
              meta::structured_threshold_backward, at::cpu::threshold_backward_outf>(m);
  cpu::on_cpu<op::nll_loss_forward, op::nll_loss_forward_output,
              meta::structured_nll_loss_forward, at::cpu::nll_loss_forward_outf>(m);
  cpu::on_cpu<op::nll_loss_backward, op::nll_loss_backward_grad_input,
              meta::structured_nll_loss_backward, at::cpu::nll_loss_backward_outf>(m);
}

namespace {

struct NanToNum : Pointwise {
  template <class... Args>
  void meta(const at::Tensor& self, const Args&...) {
    const at::Tensor& out = maybe_get_output(0);
    TORCH_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
                "nan_to_num: dtype of out: ", out.scalar_type(),
                " should be same as input: ", self.scalar_type());
    if (out.is_same(self) && at::isIntegralType(self.scalar_type(), true)) {
      return;  // changes nothing, also where the tensor overlaps itself
    }
    Pointwise::meta(self);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::relu, Relu, at::relu_outf>(m);
  cpu::on_cpu<op::hardtanh, op::hardtanh_out, Pointwise, at::hardtanh_outf>(m);
  cpu::on_cpu<op::hardtanh_backward, op::hardtanh_backward_grad_input, Pointwise,
              at::hardtanh_backward_outf>(m);
  cpu::on_cpu<op::log_sigmoid_backward, op::log_sigmoid_backward_grad_input, Pointwise,
              at::log_sigmoid_backward_outf>(m);
  cpu::on_cpu_without_out<op::_prelu_kernel, Pointwise,
                          cpu::out_variant<at::_prelu_kernel>>(m);
  cpu::on_cpu<op::nan_to_num, op::nan_to_num_out, NanToNum, at::nan_to_num_outf>(m);
  cpu::on_cpu<op::mse_loss_backward, op::mse_loss_backward_grad_input, Pointwise,
              at::mse_loss_backward_outf>(m);
  cpu::on_cpu<op::smooth_l1_loss_backward, op::smooth_l1_loss_backward_grad_input,
              Pointwise, at::smooth_l1_loss_backward_outf>(m);
  cpu::on_cpu<op::huber_loss_backward, op::huber_loss_backward_out, HuberBackward,
              at::huber_loss_backward_outf>(m);
  cpu::on_cpu<op::binary_cross_entropy_backward,
              op::binary_cross_entropy_backward_grad_input, Pointwise,
              at::binary_cross_entropy_backward_outf>(m);
}

}  // namespace openreg
