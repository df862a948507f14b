// Weight normalization; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/_weight_norm_interface.h>
#include <ATen/ops/_weight_norm_interface_backward.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>

#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {
namespace {

// ATen's kernels trust what calls them: _weight_norm() makes the arguments fit.
void check_fit(const char* name, const at::Tensor& v, const at::Tensor& g,
               int64_t dim) {
  TORCH_CHECK(v.dim() > 0 && g.dim() == v.dim() && (dim == 0 || dim == v.dim() - 1) &&
                  g.size(dim) == v.size(dim) && g.numel() == v.size(dim),
              "openreg: ", name, ": expected one norm for each slice of the first or ",
              "the last dimension, but got v of ", v.sizes(), ", g of ", g.sizes(),
              " and dim ", dim);
  TORCH_CHECK(v.is_contiguous() && g.is_contiguous(), "openreg: ", name,
              ": expected contiguous tensors");
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> weight_norm_interface(const at::Tensor& v,
                                                         const at::Tensor& g,
                                                         int64_t dim) {
  check_same_device("_weight_norm_interface", v, g);
  check_fit("_weight_norm_interface", v, g, dim);
  const at::ScalarType dtype =
      g.scalar_type() == at::kBFloat16 ? at::kFloat : g.scalar_type();
  const at::Tensor w = at::empty_like(v, at::MemoryFormat::Contiguous);
  const at::Tensor norms =
      at::empty_strided(g.sizes(), g.strides(), g.options().dtype(dtype));
  launch_out("_weight_norm_interface", at::_weight_norm_interface_outf,
             std::array{w, norms}, v, g, dim);
  return {w, norms};
}

std::tuple<at::Tensor, at::Tensor> weight_norm_interface_backward(
    const at::Tensor& grad_w, const at::Tensor& saved_v, const at::Tensor& saved_g,
    const at::Tensor& saved_norms, int64_t dim) {
  check_same_device("_weight_norm_interface_backward", grad_w, saved_v, saved_g,
                    saved_norms);
  check_fit("_weight_norm_interface_backward", saved_v, saved_g, dim);
  TORCH_CHECK(grad_w.sizes() == saved_v.sizes() && grad_w.is_contiguous() &&
                  saved_norms.sizes() == saved_g.sizes() && saved_norms.is_contiguous(),
              "openreg: _weight_norm_interface_backward: expected gradients of ",
              saved_v.sizes(), " and norms of ", saved_g.sizes(), ", contiguous");
  const at::Tensor grad_v = at::empty_like(saved_v, at::MemoryFormat::Contiguous);
  const at::Tensor grad_g = at::empty_like(saved_g, at::MemoryFormat::Contiguous);
  launch_out("_weight_norm_interface_backward",
             at::_weight_norm_interface_backward_outf, std::array{grad_v, grad_g},
             grad_w, saved_v, saved_g, saved_norms, dim);
  return {grad_v, grad_g};
}

}  // namespace openreg
