// Registers the operators that are written by hand, besides the minimal set; see
// docs/operators/registration.md.
#include <ATen/ops/roll_native.h>
#include <torch/library.h>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/NativeLayers.h"

namespace openreg {

// VENDOR: which operators you write by hand
// LITERALINCLUDE START: EXTRA
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", add);
  m.impl("add_.Tensor", add_);
  m.impl("add.out", add_out);
  m.impl("fill_.Scalar", fill_scalar_);
  m.impl("fill_.Tensor", fill_tensor_);
  m.impl("zero_", zero_);
}
// LITERALINCLUDE END: EXTRA

// Indexing: with indices from the CPU, in place only, or of a size that the device
// has to count.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("index.Tensor", index);
  m.impl("index.Tensor_out", index_out);
  m.impl("_index_put_impl_", index_put_impl_);
  m.impl("index_select", index_select);
  m.impl("index_select.out", index_select_out);
  m.impl("isin.Scalar_Tensor", isin_scalar);
  m.impl("isin.Scalar_Tensor_out", isin_scalar_out);
  m.impl("embedding_dense_backward", embedding_dense_backward);
  m.impl("masked_fill_.Scalar", masked_fill_scalar_);
  m.impl("masked_fill_.Tensor", masked_fill_tensor_);
  m.impl("masked_select", masked_select);
  m.impl("masked_select.out", masked_select_out);
  m.impl("nonzero", nonzero);
  m.impl("nonzero.out", nonzero_out);
}

// Reductions without a structured meta function.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("max", max_);
  m.impl("max.unary_out", max_out);
  m.impl("min", min_);
  m.impl("min.unary_out", min_out);
  m.impl("var.correction", var);
  m.impl("var.correction_out", var_out);
  m.impl("std.correction", std_);
  m.impl("std.correction_out", std_out);
  m.impl("dot", dot);
  m.impl("equal", equal);
  m.impl("kthvalue.values", kthvalue_out);
  m.impl("mode", mode);
  m.impl("mode.values", mode_out);
}

// Losses.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("mse_loss", mse_loss);
  m.impl("mse_loss.out", mse_loss_out);
  m.impl("smooth_l1_loss", smooth_l1_loss);
  m.impl("smooth_l1_loss.out", smooth_l1_loss_out);
  m.impl("huber_loss", huber_loss);
  m.impl("huber_loss.out", huber_loss_out);
  m.impl("binary_cross_entropy", binary_cross_entropy);
  m.impl("binary_cross_entropy.out", binary_cross_entropy_out);
}

// Images.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_adaptive_pooling(m);
  register_grid_sampler(m);
  register_im2col(m);
  register_max_pooling(m);
  register_padding(m);
}

// What models of text, sound and images call besides the common operators.
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
  m.impl("channel_shuffle", channel_shuffle);
  // Torch's function is made of operators, but registered for its own devices only.
  m.impl("roll", at::native::roll);
  register_bucketization(m);
  register_distance(m);
  register_gated_activations(m);
  register_indexed_updates(m);
  register_margin_losses(m);
  register_moments(m);
  register_ranges(m);
  register_unique(m);
}

// LITERALINCLUDE START: RANDOM
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  // Fill a tensor: rand, randn, randint, nn.init and dropout layers end here.
  m.impl("uniform_", uniform_);
  m.impl("normal_", normal_);
  m.impl("log_normal_", log_normal_);
  m.impl("exponential_", exponential_);
  m.impl("cauchy_", cauchy_);
  m.impl("geometric_", geometric_);
  m.impl("random_", random_);
  m.impl("random_.from", random_from_);
  m.impl("random_.to", random_to_);
  m.impl("bernoulli_.float", bernoulli_float_);
  m.impl("bernoulli_.Tensor", bernoulli_tensor_);
  m.impl("bernoulli.out", bernoulli_out);
  // LITERALINCLUDE END: RANDOM
  // Take a parameter for each element.
  m.impl("normal.Tensor_float", normal_tensor_float);
  m.impl("normal.float_Tensor", normal_float_tensor);
  m.impl("normal.Tensor_Tensor", normal_tensor_tensor);
  m.impl("normal.Tensor_float_out", normal_tensor_float_out);
  m.impl("normal.float_Tensor_out", normal_float_tensor_out);
  m.impl("normal.Tensor_Tensor_out", normal_tensor_tensor_out);
  m.impl("poisson", poisson);
  m.impl("binomial", binomial);
  m.impl("_standard_gamma", standard_gamma);
  m.impl("_sample_dirichlet", sample_dirichlet);
  // Choose.
  m.impl("multinomial", multinomial);
  m.impl("multinomial.out", multinomial_out);
  m.impl("randperm.generator_out", randperm_out);
  // Layers with a mask or slope that the backward pass needs again.
  m.impl("native_dropout", native_dropout);
  m.impl("native_dropout_backward", native_dropout_backward);
  m.impl("rrelu_with_noise", rrelu_with_noise);
  m.impl("rrelu_with_noise_", rrelu_with_noise_);
  m.impl("rrelu_with_noise.out", rrelu_with_noise_out);
}

}  // namespace openreg
