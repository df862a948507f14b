// Meta functions of padding by reflection and replication; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Padding.h"

#include <c10/util/DimVector.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

// The last dimension is the first in `padding`.
c10::DimVector padded(const at::Tensor& self, at::IntArrayRef padding) {
  c10::DimVector sizes(self.sizes());
  for (size_t index = 0; index < padding.size(); ++index) {
    sizes[sizes.size() - 1 - index / 2] += padding[index];
  }
  return sizes;
}

// Of `self` with `dims` dimensions, a channel, and perhaps a batch.
bool fit(int64_t dims, const at::Tensor& self, at::IntArrayRef padding) {
  const int64_t batch = self.dim() - dims - 1;
  if (padding.size() != static_cast<size_t>(2 * dims) || (batch != 0 && batch != 1) ||
      !has_elements(self, batch) || !none_below(padding, 0)) {
    return false;
  }
  for (size_t index = 0; index < padding.size(); ++index) {
    if (padding[index] >= self.size(-1 - static_cast<int64_t>(index / 2))) {
      return false;
    }
  }
  return true;
}

}  // namespace

// LITERALINCLUDE START: PAD_META
void Padding::forward(int64_t dims, Forward* on_host, const at::Tensor& self,
                      at::IntArrayRef padding) {
  check_arguments(fit(dims, self, padding), [&] { on_host(zeros_for(self), padding); });
  output(0, padded(self, padding), self.options(), format_of(self, dims + 2));
}
// LITERALINCLUDE END: PAD_META

void Padding::backward(int64_t dims, Backward* on_host, const at::Tensor& grad_output,
                       const at::Tensor& self, at::IntArrayRef padding) {
  check_arguments(fit(dims, self, padding) &&
                      grad_output.sizes() == padded(self, padding) &&
                      grad_output.scalar_type() == self.scalar_type(),
                  [&] { on_host(zeros_for(grad_output), zeros_for(self), padding); });
  output(0, self.sizes(), self.options(), format_of(self, dims + 2));
}

}  // namespace openreg
