// The fused cells of LSTM and GRU, forward and backward; see
// docs/operators/fused-layers.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// For B sequences and H units, states are [B, H]. Gates are [B, 4 H] for LSTM, in the
// order input, forget, cell, output, and [B, 3 H] for GRU: reset, update, new. Biases
// have one element for each column of the gates.

// Writes the new hidden state `hy` and cell state `cy`. `workspace` gets the gates
// after their activations, for the backward. The biases may be undefined.
void lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
               const at::Tensor& cx, const at::Tensor& input_bias,
               const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& cy,
               at::Tensor& workspace);

// Writes the gradients of the gates, of the old cell state, and of a bias if
// `grad_bias` is defined. `grad_hy` and `grad_cy` may be undefined: zeros.
void lstm_cell_backward(const at::Tensor& grad_hy, const at::Tensor& grad_cy,
                        const at::Tensor& cx, const at::Tensor& cy,
                        const at::Tensor& workspace, at::Tensor& grad_gates,
                        at::Tensor& grad_cx, at::Tensor& grad_bias);

// Writes the new hidden state `hy`. `workspace`, [B, 5 H], gets what the backward
// needs. The biases may be undefined.
void gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
              const at::Tensor& hx, const at::Tensor& input_bias,
              const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& workspace);

// Writes the gradients of both gates, of the old hidden state, and of those biases that
// are defined.
void gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace,
                       at::Tensor& grad_input, at::Tensor& grad_hidden,
                       at::Tensor& grad_hx, at::Tensor& grad_input_bias,
                       at::Tensor& grad_hidden_bias);

}  // namespace openreg::kernels
