// Meta functions of dropout and the random leaky ReLU; see docs/frontend/random.md.
#include "csrc/aten/meta/RandomDropout.h"

#include <cmath>

#include "csrc/aten/meta/RandomChecks.h"

namespace openreg {
namespace {

// Throws unless dropout, whose part `name` is, has a kernel for the dtype of `tensor`.
void check_dropout_dtype(const char* name, const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  check_random_dtype(name, tensor,
                     is_random_floating(dtype) || at::isComplexType(dtype));
}

}  // namespace

void Dropout::meta(const at::Tensor& input, double p, std::optional<bool> train) {
  if (train.value_or(true)) {
    TORCH_CHECK(0 <= p && p <= 1,
                "dropout probability has to be between 0 and 1, but got ", p);
    check_dropout_dtype("native_dropout", input);
  }
  output_like(0, input);
  output_like(1, input, input.options().dtype(at::kBool));
}

void DropoutBackward::meta(const at::Tensor& grad, const at::Tensor& mask, double) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "openreg: native_dropout_backward expects a mask of dtype bool, but got ",
              mask.scalar_type());
  TORCH_CHECK(grad.sizes() == mask.sizes(),
              "openreg: native_dropout_backward expects a mask of shape ", grad.sizes(),
              ", but got ", mask.sizes());
  if (!grad.is_floating_point() && !grad.is_complex()) {  // as a product with floats
    output_like(0, grad, grad.options().dtype(c10::get_default_dtype()));
    return;
  }
  check_dropout_dtype("native_dropout_backward", grad);
  output_like(0, grad);
}

void Rrelu::meta(const at::Tensor& self, const at::Tensor& noise,
                 const at::Scalar& lower, const at::Scalar& upper, bool,
                 const std::optional<at::Generator>&) {
  TORCH_CHECK(self.sizes() == noise.sizes(),
              "noise tensor shape must match self tensor shape. Got self.shape = ",
              self.sizes(), " noise.shape = ", noise.sizes());
  const at::Tensor& out = maybe_get_output(0);
  for (const at::Tensor* other : {&noise, &out}) {
    TORCH_CHECK(!other->defined() || other->scalar_type() == self.scalar_type(),
                "expected scalar type ", self.scalar_type(), " but found ",
                other->scalar_type());
  }
  const auto low = lower.to<double>();
  const auto high = upper.to<double>();
  TORCH_CHECK(low <= high && std::isfinite(high - low),
              "Expected from <= to to be true, but got false: rrelu expects finite "
              "bounds, lower <= upper, but got lower=",
              low, " and upper=", high);
  check_random_dtype("rrelu_with_noise", self, is_random_floating(self.scalar_type()));
  output_like(0, self);
}

}  // namespace openreg
