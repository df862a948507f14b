// Registers the operators that draw random numbers; see docs/frontend/random.md.
#include <torch/library.h>

#include "csrc/aten/native/Random.h"

namespace openreg {

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
// LITERALINCLUDE END: RANDOM

}  // namespace openreg
