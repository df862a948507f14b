// Layers for packed sequences, which torch makes of other operators; see
// docs/operators/registration.md.
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <torch/library.h>

namespace openreg {
namespace {

// A layer that torch makes of other operators, for sizes of batches on the CPU.
template <auto* kFunction>
struct Packed;
template <class Result, class... Rest,
          Result (*kFunction)(const at::Tensor&, const at::Tensor&, Rest...)>
struct Packed<kFunction> {
  static Result call(const at::Tensor& data, const at::Tensor& batch_sizes,
                     Rest... rest) {
    TORCH_CHECK(
        batch_sizes.is_cpu(),
        "openreg: the batch_sizes of a packed sequence must be on the CPU, but ",
        "are on ", batch_sizes.device(), "; move them with .cpu()");
    return kFunction(data, batch_sizes, rest...);
  }
};

template <class Result, class State>
using PackedLayer = Result(const at::Tensor&, const at::Tensor&, State, at::TensorList,
                           bool, int64_t, double, bool, bool);
using PackedLstm =
    PackedLayer<std::tuple<at::Tensor, at::Tensor, at::Tensor>, at::TensorList>;
using PackedRnn = PackedLayer<std::tuple<at::Tensor, at::Tensor>, const at::Tensor&>;

// The layers for packed sequences. Torch reads the sizes of the batches on the host.
void register_packed_rnn(torch::Library& m) {
  namespace native = at::native;
  m.impl("lstm.data", Packed<static_cast<PackedLstm*>(native::lstm)>::call);
  m.impl("gru.data", Packed<static_cast<PackedRnn*>(native::gru)>::call);
  m.impl("rnn_relu.data", Packed<static_cast<PackedRnn*>(native::rnn_relu)>::call);
  m.impl("rnn_tanh.data", Packed<static_cast<PackedRnn*>(native::rnn_tanh)>::call);
}

}  // namespace

// For both keys: torch's composite kernel is the one that autograd differentiates.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_packed_rnn(m); }
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { register_packed_rnn(m); }

}  // namespace openreg
