// Meta functions of adaptive average pooling; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/AdaptivePooling.h"

#include <c10/util/DimVector.h>

#include <algorithm>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool fit(int64_t dims, const at::Tensor& self) {
  const int64_t batch = self.dim() - dims - 1;
  return (batch == 0 || batch == 1) && has_elements(self, batch);
}

// ATen's kernels take channels-last images, and no such volumes.
at::MemoryFormat format(int64_t dims, const at::Tensor& self) {
  return dims == 2 ? format_of(self, 4) : at::MemoryFormat::Contiguous;
}

}  // namespace

void AdaptivePooling::forward(int64_t dims, Forward* on_host, const at::Tensor& self,
                              at::IntArrayRef output_size) {
  check_arguments(fit(dims, self) && output_size.size() == static_cast<size_t>(dims) &&
                      none_below(output_size, 0),
                  [&] { on_host(zeros_for(self), output_size); });
  c10::DimVector sizes(self.sizes());
  std::copy(output_size.begin(), output_size.end(), sizes.end() - dims);
  output(0, sizes, self.options(), format(dims, self));
}

void AdaptivePooling::backward(int64_t dims, Backward* on_host,
                               const at::Tensor& grad_output, const at::Tensor& self) {
  c10::DimVector expected(self.sizes());
  if (fit(dims, self) && grad_output.dim() == self.dim()) {
    std::copy(grad_output.sizes().end() - dims, grad_output.sizes().end(),
              expected.end() - dims);
  }
  const bool same_channels = grad_output.sizes() == at::IntArrayRef(expected);
  check_arguments(fit(dims, self) && fit(dims, grad_output) && same_channels &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] { on_host(zeros_for(grad_output), zeros_for(self)); });
  TORCH_CHECK(same_channels, "openreg: _adaptive_avg_pool", dims,
              "d_backward: expected a gradient of ", at::IntArrayRef(expected),
              ", but got ", grad_output.sizes());
  output(0, self.sizes(), self.options(), format(dims, self));
}

}  // namespace openreg
