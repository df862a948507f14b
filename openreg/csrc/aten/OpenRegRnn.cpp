// Registers the fused cells of LSTM and GRU; see docs/operators/composite.md.
#include <torch/library.h>

#include "csrc/aten/native/Rnn.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_RNN
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", fused_lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", fused_lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", fused_gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", fused_gru_cell_backward);
}
// LITERALINCLUDE END: REGISTER_RNN

}  // namespace openreg
