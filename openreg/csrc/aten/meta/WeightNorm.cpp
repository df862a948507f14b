// Meta functions of weight normalization; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/WeightNorm.h"

namespace openreg {
namespace {

// ATen's kernels do not check their arguments: their caller, _weight_norm(), does.
void check_fit(const char* name, const at::Tensor& v, const at::Tensor& g,
               int64_t dim) {
  TORCH_CHECK(v.dim() > 0 && g.dim() == v.dim() && (dim == 0 || dim == v.dim() - 1) &&
                  g.size(dim) == v.size(dim) && g.numel() == v.size(dim),
              "openreg: ", name, ": expected one norm for each slice of the first or ",
              "the last dimension, but got v of ", v.sizes(), ", g of ", g.sizes(),
              " and dim ", dim);
  TORCH_CHECK(v.is_contiguous() && g.is_contiguous(), "openreg: ", name,
              ": v and g must be contiguous; call .contiguous() first");
}

}  // namespace

void WeightNorm::meta(const at::Tensor& v, const at::Tensor& g, int64_t dim) {
  check_fit("_weight_norm_interface", v, g, dim);
  const at::ScalarType dtype =
      g.scalar_type() == at::kBFloat16 ? at::kFloat : g.scalar_type();
  output(0, v.sizes(), v.options());
  output(1, g.sizes(), g.options().dtype(dtype));
}

void WeightNormBackward::meta(const at::Tensor& grad_w, const at::Tensor& saved_v,
                              const at::Tensor& saved_g, const at::Tensor& saved_norms,
                              int64_t dim) {
  check_fit("_weight_norm_interface_backward", saved_v, saved_g, dim);
  TORCH_CHECK(grad_w.sizes() == saved_v.sizes() && grad_w.is_contiguous() &&
                  saved_norms.sizes() == saved_g.sizes() && saved_norms.is_contiguous(),
              "openreg: _weight_norm_interface_backward: expected gradients of ",
              saved_v.sizes(), " and norms of ", saved_g.sizes(),
              ", both contiguous, but got ", grad_w.sizes(), " and ",
              saved_norms.sizes());
  output(0, saved_v.sizes(), saved_v.options());
  output(1, saved_g.sizes(), saved_g.options());
}

}  // namespace openreg
