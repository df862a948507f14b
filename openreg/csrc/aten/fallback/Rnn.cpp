// The cells of LSTM and GRU, composed of other operators for a device without kernels;
// see docs/operators/fused-layers.md.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>

#include "csrc/aten/common/TensorArguments.h"

namespace openreg {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

// Torch calls these for every device but the CPU, which has no kernels for them. Gates
// are in the order of torch: input, forget, cell, output for LSTM, and reset, update,
// new for GRU.

Tensor with_bias(const Tensor& gates, const MaybeTensor& bias) {
  return is_given(bias) ? gates + *bias : gates;
}

Tensor or_zeros(const MaybeTensor& grad, const Tensor& like) {
  return is_given(grad) ? *grad : at::zeros_like(like);
}

// The derivatives, where `y` is the value of the function.
Tensor of_sigmoid(const Tensor& y) { return y * (1 - y); }
Tensor of_tanh(const Tensor& y) { return 1 - y * y; }

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates,
                                             const Tensor& hidden_gates,
                                             const Tensor& cx,
                                             const MaybeTensor& input_bias,
                                             const MaybeTensor& hidden_bias) {
  const auto gates =
      with_bias(with_bias(input_gates, input_bias) + hidden_gates, hidden_bias)
          .chunk(4, 1);
  const Tensor i = gates[0].sigmoid(), f = gates[1].sigmoid(), g = gates[2].tanh(),
               o = gates[3].sigmoid();
  const Tensor cy = f * cx + i * g;
  return {o * cy.tanh(), cy, at::cat({i, f, g, o}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(
    const MaybeTensor& grad_hy, const MaybeTensor& grad_cy, const Tensor& cx,
    const Tensor& cy, const Tensor& workspace, bool has_bias) {
  const auto gates = workspace.chunk(4, 1);
  const Tensor &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3];
  const Tensor of_hy = or_zeros(grad_hy, cy), activated = cy.tanh();
  const Tensor of_cy = or_zeros(grad_cy, cy) + of_hy * o * of_tanh(activated);
  const Tensor grad_gates =
      at::cat({of_cy * g * of_sigmoid(i), of_cy * cx * of_sigmoid(f),
               of_cy * i * of_tanh(g), of_hy * activated * of_sigmoid(o)},
              1);
  return {grad_gates, of_cy * f, has_bias ? grad_gates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates,
                                    const Tensor& hidden_gates, const Tensor& hx,
                                    const MaybeTensor& input_bias,
                                    const MaybeTensor& hidden_bias) {
  const auto input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const Tensor reset = (input[0] + hidden[0]).sigmoid();
  const Tensor update = (input[1] + hidden[1]).sigmoid();
  const Tensor fresh = (input[2] + reset * hidden[2]).tanh();
  return {fresh + update * (hx - fresh),
          at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(
    const Tensor& grad_hy, const Tensor& workspace, bool has_bias) {
  const auto saved = workspace.chunk(5, 1);
  const Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3],
               &hidden = saved[4];
  const Tensor of_fresh = grad_hy * (1 - update) * of_tanh(fresh);
  const Tensor of_update = grad_hy * (hx - fresh) * of_sigmoid(update);
  const Tensor of_reset = of_fresh * hidden * of_sigmoid(reset);
  const Tensor of_input = at::cat({of_reset, of_update, of_fresh}, 1);
  const Tensor of_hidden = at::cat({of_reset, of_update, of_fresh * reset}, 1);
  return {of_input, of_hidden, grad_hy * update, has_bias ? of_input.sum(0) : Tensor(),
          has_bias ? of_hidden.sum(0) : Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", gru_cell_backward);
}

}  // namespace openreg
