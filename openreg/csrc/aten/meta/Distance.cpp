// Meta functions of distances between rows; see docs/operators/meta-functions.md.
#include "csrc/aten/meta/Distance.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/_pdist_backward.h>
#include <ATen/ops/_pdist_forward.h>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool fit(const at::Tensor& x1, const at::Tensor& x2, double p) {
  return x1.dim() >= 2 && x2.dim() >= 2 && x1.size(-1) == x2.size(-1) && p >= 0 &&
         x1.is_floating_point() && x2.scalar_type() == x1.scalar_type();
}

// The dimensions of a batch, broadcast, and then `rows` and `columns`.
c10::DimVector sizes_of(const at::Tensor& x1, const at::Tensor& x2, int64_t rows,
                        int64_t columns) {
  const auto batch = [](const at::Tensor& x) {
    return x.sizes().slice(0, x.dim() - 2);
  };
  c10::DimVector sizes = at::infer_size_dimvector(batch(x1), batch(x2));
  sizes.push_back(rows);
  sizes.push_back(columns);
  return sizes;
}

}  // namespace

void Cdist::meta(const at::Tensor& x1, const at::Tensor& x2, double p,
                 std::optional<int64_t> mode) {
  check_arguments(fit(x1, x2, p) && mode.value_or(0) >= 0 && mode.value_or(0) <= 2,
                  [&] { at::_cdist_forward(zeros_for(x1), zeros_for(x2), p, mode); });
  output(0, sizes_of(x1, x2, x1.size(-2), x2.size(-2)), x1.options());
}

void CdistBackward::meta(const at::Tensor& grad, const at::Tensor& x1,
                         const at::Tensor& x2, double p, const at::Tensor& cdist) {
  check_arguments(
      fit(x1, x2, p) && grad.sizes() == sizes_of(x1, x2, x1.size(-2), x2.size(-2)) &&
          cdist.sizes() == grad.sizes() && grad.scalar_type() == x1.scalar_type(),
      [&] {
        at::_cdist_backward(zeros_for(grad), zeros_for(x1), zeros_for(x2), p,
                            zeros_for(cdist));
      });
  output(0, sizes_of(x1, x2, x1.size(-2), x1.size(-1)), x1.options());
}

void Pdist::meta(const at::Tensor& self, double p) {
  check_arguments(self.dim() == 2 && self.is_contiguous() && p >= 0,
                  [&] { at::_pdist_forward(zeros_for(self), p); });
  const int64_t rows = self.size(0);
  output(0, {rows <= 1 ? 0 : rows * (rows - 1) / 2}, self.options());
}

void PdistBackward::meta(const at::Tensor& grad, const at::Tensor& self, double p,
                         const at::Tensor& pdist) {
  check_arguments(
      self.dim() == 2 && self.is_contiguous() && pdist.is_contiguous() &&
          grad.sizes() == pdist.sizes() && grad.scalar_type() == self.scalar_type(),
      [&] {
        at::_pdist_backward(zeros_for(grad), zeros_for(self), p, zeros_for(pdist));
      });
  output(0, self.sizes(), self.options());
}

}  // namespace openreg
