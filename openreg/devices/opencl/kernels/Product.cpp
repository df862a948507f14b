// Products of matrices and vectors; see docs/opencl/kernels.md.
#include <ATen/Operators.h>
#include <ATen/ops/_addmm_activation_meta.h>
#include <ATen/ops/addmm_meta.h>
#include <ATen/ops/addmv_meta.h>
#include <ATen/ops/baddbmm_meta.h>
#include <ATen/ops/bmm_meta.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include "csrc/aten/meta/Product.h"
#include "csrc/aten/meta/Reduce.h"
#include "csrc/kernels/ProductTiles.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::kernels::product {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::Scalar;
using at::Tensor;
using opencl::structured_or_fall_back;
using opencl::structured_or_fall_back_without_out;

// The matrices or batches of matrices of a call, of one dtype.
bool multiply(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
              const Scalar& alpha, const Tensor& out) {
  const at::ScalarType dtype = out.scalar_type();
  if (!has_product(dtype) || a.scalar_type() != dtype || b.scalar_type() != dtype ||
      (c.defined() && c.scalar_type() != dtype)) {
    return false;
  }
  if (out.numel() == 0) {
    return true;
  }
  const Tensor added = c.defined() ? c.expand(out.sizes()) : c;
  const bool is_batch = out.dim() == 3;
  const auto strides = [&](const Tensor& t, int64_t (&to)[3]) {
    to[0] = is_batch ? t.stride(0) : 0;
    to[1] = t.stride(-2);
    to[2] = t.stride(-1);
  };
  Shape shape{is_batch ? out.size(0) : 1,
              out.size(-2),
              out.size(-1),
              a.size(-1),
              {},
              {},
              {},
              {}};
  strides(a, shape.a);
  strides(b, shape.b);
  strides(out, shape.out);
  if (added.defined()) {
    strides(added, shape.c);
  }
  launch_product(out, a, b, added, alpha, added.defined() ? beta : Scalar(0), shape);
  return true;
}

bool mm(const Tensor& a, const Tensor& b, const Tensor& out) {
  return multiply({}, a, b, 0, 1, out);
}

bool addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
           const Scalar& alpha, const Tensor& out) {
  return multiply(c, a, b, beta, alpha, out);
}

bool addmv(const Tensor& c, const Tensor& matrix, const Tensor& vector,
           const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  return multiply(c.expand(out.sizes()).unsqueeze(1), matrix, vector.unsqueeze(1), beta,
                  alpha, out.unsqueeze(1));
}

bool addmm_activation(const Tensor& c, const Tensor& a, const Tensor& b,
                      const Scalar& beta, const Scalar& alpha, bool use_gelu,
                      Tensor& out) {
  if (!multiply(c, a, b, beta, alpha, out)) {
    return false;
  }
  if (use_gelu) {
    at::gelu_(out);
  } else {
    at::relu_(out);
  }
  return true;
}

bool dot(const Tensor& a, const Tensor& b, const Tensor& out) {
  return multiply({}, a.unsqueeze(0), b.unsqueeze(1), 0, 1, out.view({1, 1}));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::mm, op::mm_out, Mm>(m, mm);
  structured_or_fall_back<op::bmm, op::bmm_out, meta::structured_bmm>(m, mm);
  structured_or_fall_back<op::addmm, op::addmm_out, Addmm<meta::structured_addmm>>(
      m, addmm);
  structured_or_fall_back<op::baddbmm, op::baddbmm_out, meta::structured_baddbmm>(
      m, addmm);
  structured_or_fall_back<op::addmv, op::addmv_out, meta::structured_addmv>(m, addmv);
  structured_or_fall_back<op::_addmm_activation, op::_addmm_activation_out,
                          Addmm<meta::structured__addmm_activation>>(m,
                                                                     addmm_activation);
  structured_or_fall_back_without_out<op::dot, Dot>(m, dot);
}

}  // namespace ocl::kernels::product
