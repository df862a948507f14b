// The host half of the fused cells of LSTM and GRU; see docs/operators/fused-layers.md.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <array>
#include <optional>
#include <tuple>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/kernels/Rnn.h"

namespace openreg {
namespace {

// What a cell does after its two matrix products. Torch's lstm and gru call these for
// every device that is not the CPU; the CPU has no such kernels. `input_gates` and
// `hidden_gates` are the products, for B sequences and H units: [B, 4 H] for LSTM, in
// the order input, forget, cell, output; [B, 3 H] for GRU: reset, update, new.
using optional_tensor = std::optional<at::Tensor>;

// Checks what a forward kernel relies on; `state` is [B, H].
void check_cell(const char* name, int64_t gates, const at::Tensor& input_gates,
                const at::Tensor& hidden_gates, const at::Tensor& state,
                const optional_tensor& input_bias, const optional_tensor& hidden_bias) {
  check_same_device(name, input_gates, hidden_gates, state, input_bias, hidden_bias);
  const at::ScalarType dtype = input_gates.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(is_common_floating(dtype), "openreg: ", name,
                              " is not implemented for '", dtype, "'");
  TORCH_CHECK(hidden_gates.scalar_type() == dtype && state.scalar_type() == dtype,
              "openreg: ", name, ": all arguments must be ", dtype,
              ", but the hidden gates are ", hidden_gates.scalar_type(),
              " and the state is ", state.scalar_type());
  TORCH_CHECK(state.dim() == 2, "openreg: ", name,
              ": the state must be [B, H], but is ", state.sizes());
  const std::array<int64_t, 2> sizes{state.size(0), gates * state.size(1)};
  TORCH_CHECK(input_gates.sizes() == sizes && hidden_gates.sizes() == sizes,
              "openreg: ", name, ": for a state of ", state.sizes(),
              " both gates must be ", at::IntArrayRef(sizes), ", but they are ",
              input_gates.sizes(), " and ", hidden_gates.sizes());
  TORCH_CHECK(is_given(input_bias) == is_given(hidden_bias), "openreg: ", name,
              ": pass both biases or neither");
  for (const optional_tensor& bias : {input_bias, hidden_bias}) {
    TORCH_CHECK(!is_given(bias) || (bias->scalar_type() == dtype &&
                                    bias->sizes() == at::IntArrayRef(sizes[1])),
                "openreg: ", name, ": a bias must be ", dtype, " of ", sizes[1],
                " elements, but got ", bias->scalar_type(), " of size ", bias->sizes());
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
              " and of size ", sizes, ", but got ", tensor->scalar_type(), " of size ",
              tensor->sizes());
}

// LITERALINCLUDE START: LSTM_CELL
// Returns the new hidden state, the new cell state, and what the backward needs.
std::tuple<at::Tensor, at::Tensor, at::Tensor> fused_lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
    const optional_tensor& input_bias, const optional_tensor& hidden_bias) {
  check_cell("_thnn_fused_lstm_cell", 4, input_gates, hidden_gates, cx, input_bias,
             hidden_bias);
  at::Tensor hy = at::empty_like(cx, at::MemoryFormat::Contiguous);
  at::Tensor cy = at::empty_like(hy);
  at::Tensor workspace = at::empty_like(input_gates, at::MemoryFormat::Contiguous);
  kernels::lstm_cell(input_gates, hidden_gates, cx, or_undefined(input_bias),
                     or_undefined(hidden_bias), hy, cy, workspace);
  return {hy, cy, workspace};
}
// LITERALINCLUDE END: LSTM_CELL

// Returns the gradients of the gates, of the cell state, and of either bias.
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
  kernels::lstm_cell_backward(or_undefined(grad_hy), or_undefined(grad_cy), cx, cy,
                              workspace, grad_gates, grad_cx, grad_bias);
  return {grad_gates, grad_cx, grad_bias};
}

// Returns the new hidden state, and what the backward needs.
std::tuple<at::Tensor, at::Tensor> fused_gru_cell(const at::Tensor& input_gates,
                                                  const at::Tensor& hidden_gates,
                                                  const at::Tensor& hx,
                                                  const optional_tensor& input_bias,
                                                  const optional_tensor& hidden_bias) {
  check_cell("_thnn_fused_gru_cell", 3, input_gates, hidden_gates, hx, input_bias,
             hidden_bias);
  at::Tensor hy = at::empty_like(hx, at::MemoryFormat::Contiguous);
  at::Tensor workspace = at::empty({hx.size(0), 5 * hx.size(1)}, hx.options());
  kernels::gru_cell(input_gates, hidden_gates, hx, or_undefined(input_bias),
                    or_undefined(hidden_bias), hy, workspace);
  return {hy, workspace};
}

// Returns the gradients of both gates, of the hidden state, and of both biases.
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
  kernels::gru_cell_backward(grad_hy, workspace, grad_input, grad_hidden, grad_hx,
                             grad_input_bias, grad_hidden_bias);
  return {grad_input, grad_hidden, grad_hx, grad_input_bias, grad_hidden_bias};
}

// LITERALINCLUDE START: REGISTER_RNN
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", fused_lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", fused_lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", fused_gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", fused_gru_cell_backward);
}
// LITERALINCLUDE END: REGISTER_RNN

}  // namespace
}  // namespace openreg
