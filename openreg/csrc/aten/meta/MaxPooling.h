// Meta functions of maximum pooling over volumes, and of its inverse; see
// docs/operators/meta-functions.md.
#pragma once

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct MaxPool3d : MetaFunction {
  void meta(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef stride,
            at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode);
};

struct MaxPool3dBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef padding,
            at::IntArrayRef dilation, bool ceil_mode, const at::Tensor& indices);
};

struct MaxUnpool2d : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& indices,
            at::IntArrayRef output_size);
};

struct MaxUnpool3d : MetaFunction {
  void meta(const at::Tensor& self, const at::Tensor& indices,
            at::IntArrayRef output_size, at::IntArrayRef stride,
            at::IntArrayRef padding);
};

struct FractionalPool3dBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& self,
            at::IntArrayRef kernel, at::IntArrayRef output_size,
            const at::Tensor& indices);
};

}  // namespace openreg
