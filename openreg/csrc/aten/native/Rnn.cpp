// The fused cells of LSTM and GRU, forward and backward; see
// docs/operators/composite.md.
#include "csrc/aten/native/Rnn.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/zeros_like.h>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/Launch.h"
#include "csrc/aten/native/OptionalTensor.h"

namespace openreg {
namespace {

// Checks what a forward kernel relies on; `state` is [B, H].
void check_cell(const char* name, int64_t gates, const at::Tensor& input_gates,
                const at::Tensor& hidden_gates, const at::Tensor& state,
                const optional_tensor& input_bias, const optional_tensor& hidden_bias) {
  check_same_device(name, input_gates, hidden_gates, state, input_bias, hidden_bias);
  const at::ScalarType dtype = input_gates.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype), "openreg: ", name,
                              " is not implemented for '", dtype, "'");
  TORCH_CHECK(hidden_gates.scalar_type() == dtype && state.scalar_type() == dtype,
              "openreg: ", name, ": all arguments must be ", dtype);
  TORCH_CHECK(state.dim() == 2, "openreg: ", name,
              ": the state must be [B, H], but is ", state.sizes());
  const std::array<int64_t, 2> sizes{state.size(0), gates * state.size(1)};
  TORCH_CHECK(input_gates.sizes() == sizes && hidden_gates.sizes() == sizes,
              "openreg: ", name, ": for a state of ", state.sizes(),
              " both gates must be ", at::IntArrayRef(sizes), ", but they are ",
              input_gates.sizes(), " and ", hidden_gates.sizes());
  TORCH_CHECK(is_given(input_bias) == is_given(hidden_bias), "openreg: ", name,
              ": give both biases or none");
  for (const optional_tensor& bias : {input_bias, hidden_bias}) {
    TORCH_CHECK(!is_given(bias) || (bias->scalar_type() == dtype &&
                                    bias->sizes() == at::IntArrayRef(sizes[1])),
                "openreg: ", name, ": a bias must be ", dtype, " of ", sizes[1],
                " elements");
  }
}

// Checks what a backward kernel relies on: tensors of one device and dtype, where
// `tensor`, if it is given, has `sizes`.
void check_grad(const char* name, const optional_tensor& tensor,
                const at::Tensor& workspace, at::IntArrayRef sizes) {
  check_same_device(name, workspace, tensor);
  TORCH_CHECK(!is_given(tensor) || (tensor->sizes() == sizes &&
                                    tensor->scalar_type() == workspace.scalar_type()),
              "openreg: ", name, ": expected tensors of ", workspace.scalar_type(),
              " and of size ", sizes);
}

// Kernels compute in the dtype in which sums of low precision are made.
at::Tensor wide(const at::Tensor& tensor) {
  return tensor.to(at::toOpMathType(tensor.scalar_type()));
}

// On the device: the sum of a product and its bias, as a new tensor.
at::Tensor with_bias(const at::Tensor& gates, const at::Tensor& bias) {
  return bias.defined() ? at::add(wide(gates), wide(bias)) : wide(gates).clone();
}

}  // namespace

// LITERALINCLUDE START: LSTM_CELL
std::tuple<at::Tensor, at::Tensor, at::Tensor> fused_lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
    const optional_tensor& input_bias, const optional_tensor& hidden_bias) {
  check_cell("_thnn_fused_lstm_cell", 4, input_gates, hidden_gates, cx, input_bias,
             hidden_bias);
  at::Tensor hy = at::empty_like(cx, at::MemoryFormat::Contiguous);
  at::Tensor cy = at::empty_like(hy);
  at::Tensor workspace = at::empty_like(input_gates, at::MemoryFormat::Contiguous);
  launch("lstm_cell", cx.device(),
         [in = KernelTensor::input(input_gates),
          hidden = KernelTensor::input(hidden_gates), old = KernelTensor::input(cx),
          in_bias = capture_input(input_bias), hidden_bias = capture_input(hidden_bias),
          hy = KernelTensor(hy), cy = KernelTensor(cy),
          workspace = KernelTensor(workspace)] {
           const at::Tensor gates = with_bias(in.on_device(), on_device(in_bias));
           gates.add_(hidden.on_device());
           if (hidden_bias.has_value()) {
             gates.add_(hidden_bias->on_device());
           }
           const auto parts = gates.chunk(4, 1);
           const at::Tensor i = parts[0].sigmoid_(), f = parts[1].sigmoid_();
           const at::Tensor g = parts[2].tanh_(), o = parts[3].sigmoid_();
           const at::Tensor c = f.mul(old.on_device()).addcmul_(i, g);
           cy.on_device().copy_(c);
           hy.on_device().copy_(c.tanh().mul_(o));
           workspace.on_device().copy_(gates);  // for the backward
         });
  return {hy, cy, workspace};
}
// LITERALINCLUDE END: LSTM_CELL

// LITERALINCLUDE START: LSTM_CELL_BACKWARD
std::tuple<at::Tensor, at::Tensor, at::Tensor> fused_lstm_cell_backward(
    const optional_tensor& grad_hy, const optional_tensor& grad_cy,
    const at::Tensor& cx, const at::Tensor& cy, const at::Tensor& workspace,
    bool has_bias) {
  constexpr auto name = "_thnn_fused_lstm_cell_backward_impl";
  if (!is_given(grad_hy) && !is_given(grad_cy)) {
    return {};
  }
  TORCH_CHECK(workspace.dim() == 2 && workspace.size(1) % 4 == 0, "openreg: ", name,
              ": the workspace must be [B, 4 H], but is ", workspace.sizes());
  const std::array<int64_t, 2> sizes{workspace.size(0), workspace.size(1) / 4};
  check_grad(name, grad_hy, workspace, sizes);
  check_grad(name, grad_cy, workspace, sizes);
  check_grad(name, cx, workspace, sizes);
  check_grad(name, cy, workspace, sizes);
  at::Tensor grad_gates = at::empty_like(workspace);
  at::Tensor grad_cx = at::empty(sizes, cx.options());
  at::Tensor grad_bias;
  if (has_bias) {
    grad_bias = at::empty({workspace.size(1)}, cx.options());
  }
  launch("lstm_cell_backward", cx.device(),
         [grad_hy = capture_input(grad_hy), grad_cy = capture_input(grad_cy),
          old = KernelTensor::input(cx), cy = KernelTensor::input(cy),
          workspace = KernelTensor::input(workspace),
          grad_gates = KernelTensor(grad_gates), grad_cx = KernelTensor(grad_cx),
          grad_bias = capture(grad_bias)] {
           const auto parts = wide(workspace.on_device()).chunk(4, 1);
           const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
           const at::Tensor c = wide(cy.on_device()).tanh();
           const at::Tensor dh =
               grad_hy.has_value() ? wide(grad_hy->on_device()) : at::zeros_like(c);
           at::Tensor dc = at::tanh_backward(dh.mul(o), c);
           if (grad_cy.has_value()) {
             dc.add_(grad_cy->on_device());
           }
           const at::Tensor out = grad_gates.on_device();
           const auto grads = out.chunk(4, 1);
           grads[0].copy_(at::sigmoid_backward(dc.mul(g), i));
           grads[1].copy_(at::sigmoid_backward(dc.mul(wide(old.on_device())), f));
           grads[2].copy_(at::tanh_backward(dc.mul(i), g));
           grads[3].copy_(at::sigmoid_backward(dh.mul(c), o));
           grad_cx.on_device().copy_(dc.mul_(f));
           if (grad_bias.has_value()) {
             grad_bias->on_device().copy_(wide(out).sum(0));
           }
         });
  return {grad_gates, grad_cx, grad_bias};
}
// LITERALINCLUDE END: LSTM_CELL_BACKWARD

std::tuple<at::Tensor, at::Tensor> fused_gru_cell(const at::Tensor& input_gates,
                                                  const at::Tensor& hidden_gates,
                                                  const at::Tensor& hx,
                                                  const optional_tensor& input_bias,
                                                  const optional_tensor& hidden_bias) {
  check_cell("_thnn_fused_gru_cell", 3, input_gates, hidden_gates, hx, input_bias,
             hidden_bias);
  at::Tensor hy = at::empty_like(hx, at::MemoryFormat::Contiguous);
  at::Tensor workspace = at::empty({hx.size(0), 5 * hx.size(1)}, hx.options());
  launch("gru_cell", hx.device(),
         [in = KernelTensor::input(input_gates),
          hidden = KernelTensor::input(hidden_gates), old = KernelTensor::input(hx),
          in_bias = capture_input(input_bias), hidden_bias = capture_input(hidden_bias),
          hy = KernelTensor(hy), workspace = KernelTensor(workspace)] {
           const at::Tensor gates = with_bias(in.on_device(), on_device(in_bias));
           const auto parts = gates.chunk(3, 1);
           const auto from_hidden =
               with_bias(hidden.on_device(), on_device(hidden_bias)).chunk(3, 1);
           const at::Tensor r = parts[0].add_(from_hidden[0]).sigmoid_();
           const at::Tensor z = parts[1].add_(from_hidden[1]).sigmoid_();
           const at::Tensor n = parts[2].addcmul_(r, from_hidden[2]).tanh_();
           const at::Tensor h = wide(old.on_device());
           hy.on_device().copy_(h.sub(n).mul_(z).add_(n));
           const auto saved = workspace.on_device().chunk(5, 1);  // for the backward
           saved[0].copy_(r);
           saved[1].copy_(z);
           saved[2].copy_(n);
           saved[3].copy_(h);
           saved[4].copy_(from_hidden[2]);
         });
  return {hy, workspace};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
fused_gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                        bool has_bias) {
  constexpr auto name = "_thnn_fused_gru_cell_backward";
  TORCH_CHECK(workspace.dim() == 2 && workspace.size(1) % 5 == 0, "openreg: ", name,
              ": the workspace must be [B, 5 H], but is ", workspace.sizes());
  const int64_t batch = workspace.size(0), units = workspace.size(1) / 5;
  check_grad(name, grad_hy, workspace, {batch, units});
  at::Tensor grad_input = at::empty({batch, 3 * units}, workspace.options());
  at::Tensor grad_hidden = at::empty_like(grad_input);
  at::Tensor grad_hx = at::empty({batch, units}, workspace.options());
  at::Tensor grad_input_bias, grad_hidden_bias;
  if (has_bias) {
    grad_input_bias = at::empty({3 * units}, workspace.options());
    grad_hidden_bias = at::empty_like(grad_input_bias);
  }
  launch(
      "gru_cell_backward", workspace.device(),
      [grad_hy = KernelTensor::input(grad_hy),
       workspace = KernelTensor::input(workspace),
       grad_input = KernelTensor(grad_input), grad_hidden = KernelTensor(grad_hidden),
       grad_hx = KernelTensor(grad_hx), input_bias = capture(grad_input_bias),
       hidden_bias = capture(grad_hidden_bias)] {
        const auto saved = wide(workspace.on_device()).chunk(5, 1);
        const at::Tensor &r = saved[0], &z = saved[1], &n = saved[2];
        const at::Tensor dh = wide(grad_hy.on_device());
        const at::Tensor dz = at::sigmoid_backward(dh.mul(saved[3].sub(n)), z);
        const at::Tensor dn = at::tanh_backward(dh.sub(dh.mul(z)), n);
        const at::Tensor dr = at::sigmoid_backward(dn.mul(saved[4]), r);
        const auto write = [&](const KernelTensor& gates,
                               const std::optional<KernelTensor>& bias,
                               const at::Tensor& new_gate) {
          const at::Tensor out = gates.on_device();
          const auto grads = out.chunk(3, 1);
          grads[0].copy_(dr);
          grads[1].copy_(dz);
          grads[2].copy_(new_gate);
          if (bias.has_value()) {
            bias->on_device().copy_(wide(out).sum(0));
          }
        };
        write(grad_input, input_bias, dn);
        write(grad_hidden, hidden_bias, dn.mul(r));
        grad_hx.on_device().copy_(dh.mul(z));
      });
  return {grad_input, grad_hidden, grad_hx, grad_input_bias, grad_hidden_bias};
}

}  // namespace openreg
