// The fused cells of LSTM and GRU, forward and backward; see
// docs/operators/fused-layers.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>

#include <array>

#include "csrc/aten/kernels/Rnn.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/CheckScalar.h"

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

// A layer that torch makes of other operators, for sizes of batches on the CPU.
template <auto* kFunction>
struct Packed;
template <class Result, class... Rest,
          Result (*kFunction)(const at::Tensor&, const at::Tensor&, Rest...)>
struct Packed<kFunction> {
  static Result call(const at::Tensor& data, const at::Tensor& batch_sizes,
                     Rest... rest) {
    TORCH_CHECK(batch_sizes.is_cpu(),
                "openreg: a packed sequence has batch_sizes on the CPU, but they are ",
                "on ", batch_sizes.device());
    return kFunction(data, batch_sizes, rest...);
  }
};

template <class Result, class State>
using PackedLayer = Result(const at::Tensor&, const at::Tensor&, State, at::TensorList,
                           bool, int64_t, double, bool, bool);
using PackedLstm =
    PackedLayer<std::tuple<at::Tensor, at::Tensor, at::Tensor>, at::TensorList>;
using PackedRnn = PackedLayer<std::tuple<at::Tensor, at::Tensor>, const at::Tensor&>;

}  // namespace

void register_packed_rnn(torch::Library& m) {
  namespace native = at::native;
  m.impl("lstm.data", Packed<static_cast<PackedLstm*>(native::lstm)>::call);
  m.impl("gru.data", Packed<static_cast<PackedRnn*>(native::gru)>::call);
  m.impl("rnn_relu.data", Packed<static_cast<PackedRnn*>(native::rnn_relu)>::call);
  m.impl("rnn_tanh.data", Packed<static_cast<PackedRnn*>(native::rnn_tanh)>::call);
}

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
         [in = KernelTensorArg::input(input_gates),
          hidden = KernelTensorArg::input(hidden_gates),
          old = KernelTensorArg::input(cx), in_bias = capture_input(input_bias),
          hidden_bias = capture_input(hidden_bias), hy = KernelTensorArg(hy),
          cy = KernelTensorArg(cy), workspace = KernelTensorArg(workspace)] {
           kernels::lstm_cell(in.alias(), hidden.alias(), old.alias(), alias(in_bias),
                              alias(hidden_bias), hy.alias(), cy.alias(),
                              workspace.alias());
         });
  return {hy, cy, workspace};
}
// LITERALINCLUDE END: LSTM_CELL

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
          old = KernelTensorArg::input(cx), cy = KernelTensorArg::input(cy),
          workspace = KernelTensorArg::input(workspace),
          grad_gates = KernelTensorArg(grad_gates), grad_cx = KernelTensorArg(grad_cx),
          grad_bias = capture(grad_bias)] {
           kernels::lstm_cell_backward(alias(grad_hy), alias(grad_cy), old.alias(),
                                       cy.alias(), workspace.alias(),
                                       grad_gates.alias(), grad_cx.alias(),
                                       alias(grad_bias));
         });
  return {grad_gates, grad_cx, grad_bias};
}

std::tuple<at::Tensor, at::Tensor> fused_gru_cell(const at::Tensor& input_gates,
                                                  const at::Tensor& hidden_gates,
                                                  const at::Tensor& hx,
                                                  const optional_tensor& input_bias,
                                                  const optional_tensor& hidden_bias) {
  check_cell("_thnn_fused_gru_cell", 3, input_gates, hidden_gates, hx, input_bias,
             hidden_bias);
  at::Tensor hy = at::empty_like(hx, at::MemoryFormat::Contiguous);
  at::Tensor workspace = at::empty({hx.size(0), 5 * hx.size(1)}, hx.options());
  launch(
      "gru_cell", hx.device(),
      [in = KernelTensorArg::input(input_gates),
       hidden = KernelTensorArg::input(hidden_gates), old = KernelTensorArg::input(hx),
       in_bias = capture_input(input_bias), hidden_bias = capture_input(hidden_bias),
       hy = KernelTensorArg(hy), workspace = KernelTensorArg(workspace)] {
        kernels::gru_cell(in.alias(), hidden.alias(), old.alias(), alias(in_bias),
                          alias(hidden_bias), hy.alias(), workspace.alias());
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
      [grad_hy = KernelTensorArg::input(grad_hy),
       workspace = KernelTensorArg::input(workspace),
       grad_input = KernelTensorArg(grad_input),
       grad_hidden = KernelTensorArg(grad_hidden), grad_hx = KernelTensorArg(grad_hx),
       input_bias = capture(grad_input_bias), hidden_bias = capture(grad_hidden_bias)] {
        kernels::gru_cell_backward(
            grad_hy.alias(), workspace.alias(), grad_input.alias(), grad_hidden.alias(),
            grad_hx.alias(), alias(input_bias), alias(hidden_bias));
      });
  return {grad_input, grad_hidden, grad_hx, grad_input_bias, grad_hidden_bias};
}

}  // namespace openreg
