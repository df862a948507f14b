// Meta functions of padding by reflection and replication; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct Padding : MetaFunction {
  using Forward = at::Tensor(const at::Tensor&, at::IntArrayRef);
  using Backward = at::Tensor(const at::Tensor&, const at::Tensor&, at::IntArrayRef);

 protected:
  // `on_host` throws torch's errors.
  void forward(int64_t dims, Forward* on_host, const at::Tensor& self,
               at::IntArrayRef padding);
  void backward(int64_t dims, Backward* on_host, const at::Tensor& grad_output,
                const at::Tensor& self, at::IntArrayRef padding);
};

// Of images (2) or volumes (3).
template <int64_t kDims, Padding::Forward* kOnHost>
struct Pad : Padding {
  void meta(const at::Tensor& self, at::IntArrayRef padding) {
    forward(kDims, kOnHost, self, padding);
  }
};

template <int64_t kDims, Padding::Backward* kOnHost>
struct PadBackward : Padding {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            at::IntArrayRef padding) {
    backward(kDims, kOnHost, grad_output, self, padding);
  }
};

}  // namespace openreg
