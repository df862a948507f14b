// Meta functions of adaptive average pooling; see docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct AdaptivePooling : MetaFunction {
  using Forward = at::Tensor(const at::Tensor&, at::IntArrayRef);
  using Backward = at::Tensor(const at::Tensor&, const at::Tensor&);

 protected:
  // `on_host` throws torch's errors.
  void forward(int64_t dims, Forward* on_host, const at::Tensor& self,
               at::IntArrayRef output_size);
  void backward(int64_t dims, Backward* on_host, const at::Tensor& grad_output,
                const at::Tensor& self);
};

// Of images (2) or volumes (3).
template <int64_t kDims, AdaptivePooling::Forward* kOnHost>
struct AdaptiveAvgPool : AdaptivePooling {
  void meta(const at::Tensor& self, at::IntArrayRef output_size) {
    forward(kDims, kOnHost, self, output_size);
  }
};

template <int64_t kDims, AdaptivePooling::Backward* kOnHost>
struct AdaptiveAvgPoolBackward : AdaptivePooling {
  void meta(const at::Tensor& grad_output, const at::Tensor& self) {
    backward(kDims, kOnHost, grad_output, self);
  }
};

}  // namespace openreg
