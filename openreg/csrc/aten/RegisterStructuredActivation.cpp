// Registers activation functions, nll_loss and their derivatives; see
// docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/native/Activation.h>
#include <ATen/ops/elu_backward_meta.h>
#include <ATen/ops/elu_meta.h>
#include <ATen/ops/gelu_backward_meta.h>
#include <ATen/ops/gelu_meta.h>
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
#include <ATen/ops/empty.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/hardtanh_backward.h>
#include <ATen/ops/huber_loss_backward.h>
#include <ATen/ops/log_sigmoid_backward.h>
#include <ATen/ops/mse_loss_backward.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/smooth_l1_loss_backward.h>

#include "csrc/aten/kernels/OutVariants.h"
#include "csrc/aten/structured/Pointwise.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

namespace {

// torch's meta functions leave the text to the kernel.
struct Gelu : meta::structured_gelu {
  void meta(const at::Tensor& self, std::string_view approximate) {
    at::native::get_gelutype_enum(approximate);
    structured_gelu::meta(self, approximate);
  }
};
struct GeluBackward : meta::structured_gelu_backward {
  void meta(const at::Tensor& grad, const at::Tensor& self,
            std::string_view approximate) {
    at::native::get_gelutype_enum(approximate);
    structured_gelu_backward::meta(grad, self, approximate);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::elu, op::elu_out, meta::structured_elu, cpu::elu_outf>(m);
  structured<op::elu_backward, op::elu_backward_grad_input,
             meta::structured_elu_backward, cpu::elu_backward_outf>(m);
  structured<op::gelu, op::gelu_out, Gelu, cpu::gelu_outf>(m);
  structured<op::gelu_backward, op::gelu_backward_grad_input, GeluBackward,
             cpu::gelu_backward_outf>(m);
  structured<op::glu, op::glu_out, meta::structured_glu, cpu::glu_outf>(m);
  structured<op::hardshrink, op::hardshrink_out, meta::structured_hardshrink,
             cpu::hardshrink_outf>(m);
  structured<op::hardshrink_backward, op::hardshrink_backward_grad_input,
             meta::structured_hardshrink_backward, cpu::hardshrink_backward_outf>(m);
  structured<op::hardsigmoid, op::hardsigmoid_out, meta::structured_hardsigmoid,
             cpu::hardsigmoid_outf>(m);
  structured<op::hardsigmoid_backward, op::hardsigmoid_backward_grad_input,
             meta::structured_hardsigmoid_backward, cpu::hardsigmoid_backward_outf>(m);
  structured<op::leaky_relu, op::leaky_relu_out, meta::structured_leaky_relu,
             cpu::leaky_relu_outf>(m);
  structured<op::leaky_relu_backward, op::leaky_relu_backward_grad_input,
             meta::structured_leaky_relu_backward, cpu::leaky_relu_backward_outf>(m);
  structured<op::logit_backward, op::logit_backward_grad_input,
             meta::structured_logit_backward, cpu::logit_backward_outf>(m);
  structured<op::mish, op::mish_out, meta::structured_mish, cpu::mish_outf>(m);
  structured<op::sigmoid_backward, op::sigmoid_backward_grad_input,
             meta::structured_sigmoid_backward, cpu::sigmoid_backward_outf>(m);
  structured<op::silu, op::silu_out, meta::structured_silu, cpu::silu_outf>(m);
  structured<op::silu_backward, op::silu_backward_grad_input,
             meta::structured_silu_backward, cpu::silu_backward_outf>(m);
  structured<op::softplus, op::softplus_out, meta::structured_softplus,
             cpu::softplus_outf>(m);
  structured<op::softplus_backward, op::softplus_backward_grad_input,
             meta::structured_softplus_backward, cpu::softplus_backward_outf>(m);
  structured<op::softshrink, op::softshrink_out, meta::structured_softshrink,
             cpu::softshrink_outf>(m);
  structured<op::softshrink_backward, op::softshrink_backward_grad_input,
             meta::structured_softshrink_backward, cpu::softshrink_backward_outf>(m);
  structured<op::tanh_backward, op::tanh_backward_grad_input,
             meta::structured_tanh_backward, cpu::tanh_backward_outf>(m);
  structured<op::threshold, op::threshold_out, meta::structured_threshold,
             cpu::threshold_outf>(m);
  structured<op::threshold_backward, op::threshold_backward_grad_input,
             meta::structured_threshold_backward, cpu::threshold_backward_outf>(m);
  structured<op::nll_loss_forward, op::nll_loss_forward_output,
             meta::structured_nll_loss_forward, cpu::nll_loss_forward_outf>(m);
  structured<op::nll_loss_backward, op::nll_loss_backward_grad_input,
             meta::structured_nll_loss_backward, cpu::nll_loss_backward_outf>(m);
}

namespace {

struct InferRelu : InferPointwise<std::tuple<const at::Tensor&>> {
  static at::ScalarType run(Form form, std::array<at::Tensor, 1>& outputs,
                            const ArgumentFacts& facts, const at::Tensor& self) {
    if (self.scalar_type() == at::kBool) {
      at::relu(at::empty({0}, at::kBool));  // raises; the class depends on the release
    }
    return InferPointwise::run(form, outputs, facts, self);
  }
};

// The CPU's kernel converts nothing, unlike those of the other losses.
struct InferHuberBackward {
  template <class... Args>
  static at::ScalarType run(Form form, std::array<at::Tensor, 1>& outputs,
                            const ArgumentFacts& facts, const Args&... args) {
    const at::ScalarType dtype = facts.tensors[1].tensor->scalar_type();  // of `self`
    for (const ArgumentFacts::Operand& operand : facts.tensors) {
      TORCH_CHECK(operand.tensor->scalar_type() == dtype, "Found dtype ",
                  operand.tensor->scalar_type(), " but expected ", dtype);
    }
    return InferPointwise<SignatureOf<op::huber_loss_backward>::Arguments>::run(
        form, outputs, facts, args...);
  }
};

struct InferNanToNum {
  using Arguments = SignatureOf<op::nan_to_num>::Arguments;

  template <class... Args>
  static at::ScalarType run(Form form, std::array<at::Tensor, 1>& outputs,
                            const ArgumentFacts& facts, const at::Tensor& self,
                            const Args&... args) {
    if (form == Form::Out) {
      TORCH_CHECK(outputs[0].scalar_type() == self.scalar_type(),
                  "nan_to_num: dtype of out: ", outputs[0].scalar_type(),
                  " should be same as input: ", self.scalar_type());
    }
    if (form == Form::Inplace && at::isIntegralType(self.scalar_type(), true)) {
      return self.scalar_type();  // changes nothing, also where the tensor overlaps
    }
    return InferPointwise<Arguments>::run(form, outputs, facts, self, args...);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  pointwise<op::relu, at::relu_outf, void, InferRelu>(m);
  pointwise<op::hardtanh, at::hardtanh_outf, op::hardtanh_out>(m);
  pointwise<op::hardtanh_backward, at::hardtanh_backward_outf,
            op::hardtanh_backward_grad_input>(m);
  pointwise<op::log_sigmoid_backward, at::log_sigmoid_backward_outf,
            op::log_sigmoid_backward_grad_input>(m);
  pointwise<op::_prelu_kernel, kernels::prelu_out>(m);
  pointwise<op::nan_to_num, at::nan_to_num_outf, op::nan_to_num_out, InferNanToNum>(m);
  pointwise<op::mse_loss_backward, at::mse_loss_backward_outf,
            op::mse_loss_backward_grad_input>(m);
  pointwise<op::smooth_l1_loss_backward, at::smooth_l1_loss_backward_outf,
            op::smooth_l1_loss_backward_grad_input>(m);
  pointwise<op::huber_loss_backward, at::huber_loss_backward_outf,
            op::huber_loss_backward_out, InferHuberBackward>(m);
  pointwise<op::binary_cross_entropy_backward, at::binary_cross_entropy_backward_outf,
            op::binary_cross_entropy_backward_grad_input>(m);
}

}  // namespace openreg
