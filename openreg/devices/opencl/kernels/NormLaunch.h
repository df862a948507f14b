// What layer, group and batch normalization have in common; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace ocl::kernels::norm {

// Where the rows of an input are whose elements have a mean in common, and which
// element of the weight each has. The struct `Shape` of OpenCL C.
struct Shape {
  int64_t rows, length;                     // of a row; how many elements it has
  int64_t row_stride, inner, outer_stride;  // element j: j / inner, j % inner
  int64_t groups, per_group, spatial;       // of the weight: see PARAMETER
  int64_t parameters, terms;                // how many elements have the same weight
};

enum class Kind { Layer, Group, Batch };
Shape layer_shape(int64_t rows, int64_t length);
Shape group_shape(int64_t batch, int64_t channels, int64_t spatial, int64_t groups);
Shape batch_shape(const at::Tensor& input);

// Where statistics are given, these are running ones, and none are computed.
struct Running {
  at::Tensor mean, var;
  bool given;
  double momentum;
};

// All return false if a dtype has no kernel. Undefined outputs are not computed.
bool normalize(Kind kind, const Shape& shape, const at::Tensor& input,
               const at::Tensor& weight, const at::Tensor& bias, const Running& running,
               double eps, const at::Tensor& out, const at::Tensor& mean,
               const at::Tensor& rstd);
// `rstd` is the variance if `given`.
bool differentiate(Kind kind, const Shape& shape, const at::Tensor& grad,
                   const at::Tensor& input, const at::Tensor& mean,
                   const at::Tensor& rstd, const at::Tensor& weight, bool given,
                   double eps, const std::array<at::Tensor, 3>& grads);

}  // namespace ocl::kernels::norm
