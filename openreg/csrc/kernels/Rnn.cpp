// The fused cells of LSTM and GRU, forward and backward; see
// docs/operators/fused-layers.md.
#include "csrc/kernels/Rnn.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/add.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include "csrc/kernels/cpu/Launch.h"

namespace openreg {
namespace {

// -- on the device --

// Kernels compute in the dtype in which sums of low precision are made.
at::Tensor widen_cell(const at::Tensor& tensor) {
  return tensor.to(at::toOpMathType(tensor.scalar_type()));
}

// The sum of a product and its bias, as a new tensor.
at::Tensor with_bias(const at::Tensor& gates, const at::Tensor& bias) {
  return bias.defined() ? at::add(widen_cell(gates), widen_cell(bias))
                        : widen_cell(gates).clone();
}

// Writes the gradient of the gates [reset, update, new] of one product, and of its bias
// if that is defined.
void write_gru_gates(const at::Tensor& reset, const at::Tensor& update,
                     const at::Tensor& new_gate, const at::Tensor& gates,
                     const at::Tensor& bias) {
  const auto grads = gates.chunk(3, 1);
  grads[0].copy_(reset);
  grads[1].copy_(update);
  grads[2].copy_(new_gate);
  if (bias.defined()) {
    bias.copy_(widen_cell(gates).sum(0));
  }
}

void run_lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                   const at::Tensor& cx, const at::Tensor& input_bias,
                   const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& cy,
                   at::Tensor& workspace) {
  const at::Tensor gates = with_bias(input_gates, input_bias);
  gates.add_(hidden_gates);
  if (hidden_bias.defined()) {
    gates.add_(hidden_bias);
  }
  const auto parts = gates.chunk(4, 1);
  const at::Tensor i = parts[0].sigmoid_(), f = parts[1].sigmoid_();
  const at::Tensor g = parts[2].tanh_(), o = parts[3].sigmoid_();
  const at::Tensor c = f.mul(cx).addcmul_(i, g);
  cy.copy_(c);
  hy.copy_(c.tanh().mul_(o));
  workspace.copy_(gates);  // for the backward
}

// LITERALINCLUDE START: LSTM_CELL_BACKWARD
void run_lstm_cell_backward(const at::Tensor& grad_hy, const at::Tensor& grad_cy,
                            const at::Tensor& cx, const at::Tensor& cy,
                            const at::Tensor& workspace, at::Tensor& grad_gates,
                            at::Tensor& grad_cx, at::Tensor& grad_bias) {
  const auto parts = widen_cell(workspace).chunk(4, 1);
  const at::Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  const at::Tensor c = widen_cell(cy).tanh();
  const at::Tensor dh = grad_hy.defined() ? widen_cell(grad_hy) : at::zeros_like(c);
  at::Tensor dc = at::tanh_backward(dh.mul(o), c);
  if (grad_cy.defined()) {
    dc.add_(grad_cy);
  }
  const auto grads = grad_gates.chunk(4, 1);
  grads[0].copy_(at::sigmoid_backward(dc.mul(g), i));
  grads[1].copy_(at::sigmoid_backward(dc.mul(widen_cell(cx)), f));
  grads[2].copy_(at::tanh_backward(dc.mul(i), g));
  grads[3].copy_(at::sigmoid_backward(dh.mul(c), o));
  grad_cx.copy_(dc.mul_(f));
  if (grad_bias.defined()) {
    grad_bias.copy_(widen_cell(grad_gates).sum(0));
  }
}
// LITERALINCLUDE END: LSTM_CELL_BACKWARD

void run_gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                  const at::Tensor& hx, const at::Tensor& input_bias,
                  const at::Tensor& hidden_bias, at::Tensor& hy,
                  at::Tensor& workspace) {
  const at::Tensor gates = with_bias(input_gates, input_bias);
  const auto parts = gates.chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor r = parts[0].add_(from_hidden[0]).sigmoid_();
  const at::Tensor z = parts[1].add_(from_hidden[1]).sigmoid_();
  const at::Tensor n = parts[2].addcmul_(r, from_hidden[2]).tanh_();
  const at::Tensor h = widen_cell(hx);
  hy.copy_(h.sub(n).mul_(z).add_(n));
  const auto saved = workspace.chunk(5, 1);  // for the backward
  saved[0].copy_(r);
  saved[1].copy_(z);
  saved[2].copy_(n);
  saved[3].copy_(h);
  saved[4].copy_(from_hidden[2]);
}

void run_gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                           at::Tensor& grad_input, at::Tensor& grad_hidden,
                           at::Tensor& grad_hx, at::Tensor& grad_input_bias,
                           at::Tensor& grad_hidden_bias) {
  const auto saved = widen_cell(workspace).chunk(5, 1);
  const at::Tensor &r = saved[0], &z = saved[1], &n = saved[2];
  const at::Tensor dh = widen_cell(grad_hy);
  const at::Tensor dz = at::sigmoid_backward(dh.mul(saved[3].sub(n)), z);
  const at::Tensor dn = at::tanh_backward(dh.sub(dh.mul(z)), n);
  const at::Tensor dr = at::sigmoid_backward(dn.mul(saved[4]), r);
  write_gru_gates(dr, dz, dn, grad_input, grad_input_bias);
  write_gru_gates(dr, dz, dn.mul(r), grad_hidden, grad_hidden_bias);
  grad_hx.copy_(dh.mul(z));
}

}  // namespace

void kernels::lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                        const at::Tensor& cx, const at::Tensor& input_bias,
                        const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& cy,
                        at::Tensor& workspace) {
  cpu::launch("lstm_cell", run_lstm_cell, input_gates, hidden_gates, cx, input_bias,
              hidden_bias, hy, cy, workspace);
}

void kernels::lstm_cell_backward(const at::Tensor& grad_hy, const at::Tensor& grad_cy,
                                 const at::Tensor& cx, const at::Tensor& cy,
                                 const at::Tensor& workspace, at::Tensor& grad_gates,
                                 at::Tensor& grad_cx, at::Tensor& grad_bias) {
  cpu::launch("lstm_cell_backward", run_lstm_cell_backward, grad_hy, grad_cy, cx, cy,
              workspace, grad_gates, grad_cx, grad_bias);
}

void kernels::gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                       const at::Tensor& hx, const at::Tensor& input_bias,
                       const at::Tensor& hidden_bias, at::Tensor& hy,
                       at::Tensor& workspace) {
  cpu::launch("gru_cell", run_gru_cell, input_gates, hidden_gates, hx, input_bias,
              hidden_bias, hy, workspace);
}

void kernels::gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                                at::Tensor& grad_input, at::Tensor& grad_hidden,
                                at::Tensor& grad_hx, at::Tensor& grad_input_bias,
                                at::Tensor& grad_hidden_bias) {
  cpu::launch("gru_cell_backward", run_gru_cell_backward, grad_hy, workspace,
              grad_input, grad_hidden, grad_hx, grad_input_bias, grad_hidden_bias);
}

}  // namespace openreg
