// Meta functions of activations without a structured one; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/GatedActivation.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/glu_backward.h>
#include <c10/util/DimVector.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {

void GluBackward::meta(const at::Tensor& grad_output, const at::Tensor& self,
                       int64_t dim) {
  const bool has_dim = self.dim() > 0 && dim >= -self.dim() && dim < self.dim();
  c10::DimVector half(self.sizes());
  if (has_dim) {
    half[at::maybe_wrap_dim(dim, self.dim())] /= 2;
  }
  check_arguments(
      has_dim && self.size(dim) % 2 == 0 &&
          grad_output.sizes() == at::IntArrayRef(half) &&
          grad_output.scalar_type() == self.scalar_type(),
      [&] { at::glu_backward(zeros_for(grad_output), zeros_for(self), dim); });
  output(0, self.sizes(), self.options());
}

void LogSigmoid::meta(const at::Tensor& self) {
  output(0, self.sizes(), self.options());
  output(1, self.sizes(), self.options());
}

}  // namespace openreg
