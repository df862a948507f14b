// Comparisons of tensors, and with numbers; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/eq_meta.h>
#include <ATen/ops/ge_meta.h>
#include <ATen/ops/gt_meta.h>
#include <ATen/ops/isnan_native.h>
#include <ATen/ops/le_meta.h>
#include <ATen/ops/lt_meta.h>
#include <ATen/ops/ne_meta.h>

#include "csrc/kernels/opencl/Pointwise.h"

namespace ocl::opencl::comparison {

namespace op = at::_ops;
namespace meta = at::meta;

// The iterator has the number of eq.Scalar as its second input.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::eq_Scalar, op::eq_Scalar_out, meta::structured_eq_Scalar>(
      m, Computes("a == b"));
  structured_or_fall_back<op::eq_Tensor, op::eq_Tensor_out, meta::structured_eq_Tensor>(
      m, Computes("a == b"));
  structured_or_fall_back<op::ne_Scalar, op::ne_Scalar_out, meta::structured_ne_Scalar>(
      m, Computes("a != b"));
  structured_or_fall_back<op::ne_Tensor, op::ne_Tensor_out, meta::structured_ne_Tensor>(
      m, Computes("a != b"));
  structured_or_fall_back<op::lt_Scalar, op::lt_Scalar_out, meta::structured_lt_Scalar>(
      m, Computes("a < b"));
  structured_or_fall_back<op::lt_Tensor, op::lt_Tensor_out, meta::structured_lt_Tensor>(
      m, Computes("a < b"));
  structured_or_fall_back<op::le_Scalar, op::le_Scalar_out, meta::structured_le_Scalar>(
      m, Computes("a <= b"));
  structured_or_fall_back<op::le_Tensor, op::le_Tensor_out, meta::structured_le_Tensor>(
      m, Computes("a <= b"));
  structured_or_fall_back<op::gt_Scalar, op::gt_Scalar_out, meta::structured_gt_Scalar>(
      m, Computes("a > b"));
  structured_or_fall_back<op::gt_Tensor, op::gt_Tensor_out, meta::structured_gt_Tensor>(
      m, Computes("a > b"));
  structured_or_fall_back<op::ge_Scalar, op::ge_Scalar_out, meta::structured_ge_Scalar>(
      m, Computes("a >= b"));
  structured_or_fall_back<op::ge_Tensor, op::ge_Tensor_out, meta::structured_ge_Tensor>(
      m, Computes("a >= b"));
  // Torch's function is made of operators, but registered for its own devices only.
  m.impl("isnan", at::native::isnan);
}

}  // namespace ocl::opencl::comparison
