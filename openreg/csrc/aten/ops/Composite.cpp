// Operators that are made of other operators, registered for this device; see
// docs/operators/registration.md.
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <torch/library.h>

namespace openreg {
namespace {

// Packs a weight of 4 bits for kernels; see docs/modules/four-bits.md.
// LITERALINCLUDE START: INT4PACK
at::Tensor convert_weight_to_int4pack(const at::Tensor& self, int64_t inner_k_tiles) {
  TORCH_CHECK(
      self.dim() == 2 && self.scalar_type() == at::kByte,
      "openreg: _convert_weight_to_int4pack: expected Byte and [N, K / 2], two ",
      "codes in each byte, but got ", self.scalar_type(), " and ", self.sizes());
  const int64_t n = self.size(0), k = self.size(1) * 2;
  TORCH_CHECK(inner_k_tiles == 2 || inner_k_tiles == 4 || inner_k_tiles == 8,
              "openreg: _convert_weight_to_int4pack: innerKTiles must be 2, 4 or 8, ",
              "but is ", inner_k_tiles);
  TORCH_CHECK(n % 8 == 0 && k % (inner_k_tiles * 16) == 0,
              "openreg: _convert_weight_to_int4pack: N must be a multiple of 8, and K ",
              "of ", inner_k_tiles * 16, ", but they are ", n, " and ", k);
  at::Tensor packed =
      at::empty({n / 8, k / (inner_k_tiles * 16), 32, inner_k_tiles / 2},  // (1)
                self.options().dtype(at::kInt));
  packed.view(at::kByte).view(self.sizes()).copy_(self);  // (2)
  return packed;
}
// LITERALINCLUDE END: INT4PACK

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

// The layers for packed sequences. Torch reads the sizes of the batches on the host.
void register_packed_rnn(torch::Library& m) {
  namespace native = at::native;
  m.impl("lstm.data", Packed<static_cast<PackedLstm*>(native::lstm)>::call);
  m.impl("gru.data", Packed<static_cast<PackedRnn*>(native::gru)>::call);
  m.impl("rnn_relu.data", Packed<static_cast<PackedRnn*>(native::rnn_relu)>::call);
  m.impl("rnn_tanh.data", Packed<static_cast<PackedRnn*>(native::rnn_tanh)>::call);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_convert_weight_to_int4pack", convert_weight_to_int4pack);
  // Chooses between a sparse and a dense gradient.
  m.impl("_embedding_bag_backward",
         TORCH_FN(at::native::_embedding_bag_backward_symint));
}

// For both keys: torch's composite kernel is the one that autograd differentiates.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_packed_rnn(m); }
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { register_packed_rnn(m); }

}  // namespace openreg
