// The inverse of maximum pooling; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Writes the elements of `self` to the places that `indices` lists in each image of
// `out`, and zeros to the other places. `output_size` is the size of an image.
at::Tensor& max_unpool2d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::Tensor& out);

// The same for volumes.
at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::Tensor& out);

}  // namespace openreg::kernels
