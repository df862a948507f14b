// The host half of the fused cells of LSTM and GRU; see docs/operators/fused-layers.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace openreg {

// What a cell does after its two matrix products. Torch's lstm and gru call these for
// every device that is not the CPU; the CPU has no such kernels. `input_gates` and
// `hidden_gates` are the products, for B sequences and H units: [B, 4 H] for LSTM, in
// the order input, forget, cell, output; [B, 3 H] for GRU: reset, update, new.
using optional_tensor = std::optional<at::Tensor>;

// Returns the new hidden state, the new cell state, and what the backward needs.
std::tuple<at::Tensor, at::Tensor, at::Tensor> fused_lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
    const optional_tensor& input_bias, const optional_tensor& hidden_bias);

// Returns the gradients of the gates, of the cell state, and of either bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor> fused_lstm_cell_backward(
    const optional_tensor& grad_hy, const optional_tensor& grad_cy,
    const at::Tensor& cx, const at::Tensor& cy, const at::Tensor& workspace,
    bool has_bias);

// Returns the new hidden state, and what the backward needs.
std::tuple<at::Tensor, at::Tensor> fused_gru_cell(const at::Tensor& input_gates,
                                                  const at::Tensor& hidden_gates,
                                                  const at::Tensor& hx,
                                                  const optional_tensor& input_bias,
                                                  const optional_tensor& hidden_bias);

// Returns the gradients of both gates, of the hidden state, and of both biases.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
fused_gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                        bool has_bias);

}  // namespace openreg
