// Registers operators that models of text, sound and images meet besides the common
// ones; see docs/operators/structured.md.
#include <ATen/ops/roll_native.h>
#include <torch/library.h>

#include "csrc/aten/native/Bucketization.h"
#include "csrc/aten/native/CtcLoss.h"
#include "csrc/aten/native/Distance.h"
#include "csrc/aten/native/EmbeddingBag.h"
#include "csrc/aten/native/Flip.h"
#include "csrc/aten/native/GatedActivation.h"
#include "csrc/aten/native/Histogram.h"
#include "csrc/aten/native/IndexedUpdate.h"
#include "csrc/aten/native/MarginLoss.h"
#include "csrc/aten/native/Moments.h"
#include "csrc/aten/native/NllLoss2d.h"
#include "csrc/aten/native/RangeFactories.h"
#include "csrc/aten/native/Unique.h"
#include "csrc/aten/native/WeightNorm.h"

namespace openreg {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_ctc_loss", ctc_loss);
  m.impl("_ctc_loss.Tensor", ctc_loss_tensor);
  m.impl("_ctc_loss_backward", ctc_loss_backward);
  m.impl("_ctc_loss_backward.Tensor", ctc_loss_backward_tensor);
  m.impl("_weight_norm_interface", weight_norm_interface);
  m.impl("_weight_norm_interface_backward", weight_norm_interface_backward);
  m.impl("nll_loss2d_forward", nll_loss2d_forward);
  m.impl("nll_loss2d_forward.output", nll_loss2d_forward_out);
  m.impl("nll_loss2d_backward", nll_loss2d_backward);
  m.impl("nll_loss2d_backward.grad_input", nll_loss2d_backward_out);
  m.impl("histc", histc);
  m.impl("histc.out", histc_out);
  m.impl("bincount", bincount);
  m.impl("flip", flip);
  m.impl("channel_shuffle", openreg::channel_shuffle);
  // Torch's function is made of operators, but registered for its own devices only.
  m.impl("roll", at::native::roll);
  register_bucketization(m);
  register_distance(m);
  register_embedding_bag(m);
  register_gated_activations(m);
  register_indexed_updates(m);
  register_margin_losses(m);
  register_moments(m);
  register_ranges(m);
  register_unique(m);
}

}  // namespace openreg
