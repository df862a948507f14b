// The tiled product of matrices, which convolutions share; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <cstdint>

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::product {

// The struct `Shape` of OpenCL C: out[n] = alpha * a[n] @ b[n] + beta * c[n] for each n
// below `batch`. Strides are in elements: of n, of the row, of the column.
struct Shape {
  int64_t batch, rows, columns, depth;
  int64_t a[3], b[3], c[3], out[3];
};

// A convolution is a product as well: the tiles of `b` are gathered from an image, and
// column k of `a`, or column j of `out`, is element (k / inner) * outer + k % inner.
struct Image {
  int64_t batch_stride, channel_stride;            // of the image, in elements
  int64_t size[3], stride[3], padding[3], tap[3];  // `tap` is the dilation
  int64_t positions[3], taps[3];  // how many there are in each dimension
  int64_t a_inner, a_outer, out_inner, out_outer;
};

// The index that counts what `b` gathers: k counts taps and j positions, or reverse.
// Dividing is for the gradient of the input, where a step of the output is no element.
enum class Gather { TapsByPositions, PositionsByTaps, Divided };

// Whether kernels multiply this dtype.
bool has_product(at::ScalarType dtype);

// Enqueues a product in the dtype of `out`. `c` may be undefined if beta is 0.
void launch_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& c, const at::Scalar& alpha,
                    const at::Scalar& beta, const Shape& shape);
void launch_gathered(const at::Tensor& out, const at::Tensor& a,
                     const at::Tensor& image, const at::Tensor& bias,
                     const Shape& shape, const Image& layout, Gather gather);

}  // namespace ocl::kernels::product
