// Distances between rows; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/_pdist_backward.h>
#include <ATen/ops/_pdist_forward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
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

at::Tensor cdist_forward(const at::Tensor& x1, const at::Tensor& x2, double p,
                         std::optional<int64_t> mode) {
  check_same_device("_cdist_forward", x1, x2);
  check_arguments(fit(x1, x2, p) && mode.value_or(0) >= 0 && mode.value_or(0) <= 2,
                  [&] { at::_cdist_forward(zeros_for(x1), zeros_for(x2), p, mode); });
  const at::Tensor out =
      at::empty(sizes_of(x1, x2, x1.size(-2), x2.size(-2)), x1.options());
  launch_out("_cdist_forward", cpu::out_variant<at::_cdist_forward>, std::array{out}, x1, x2,
             p, mode);
  return out;
}

at::Tensor cdist_backward(const at::Tensor& grad, const at::Tensor& x1,
                          const at::Tensor& x2, double p, const at::Tensor& cdist) {
  check_same_device("_cdist_backward", grad, x1, x2, cdist);
  check_arguments(
      fit(x1, x2, p) && grad.sizes() == sizes_of(x1, x2, x1.size(-2), x2.size(-2)) &&
          cdist.sizes() == grad.sizes() && grad.scalar_type() == x1.scalar_type(),
      [&] {
        at::_cdist_backward(zeros_for(grad), zeros_for(x1), zeros_for(x2), p,
                            zeros_for(cdist));
      });
  const at::Tensor out =
      at::empty(sizes_of(x1, x2, x1.size(-2), x1.size(-1)), x1.options());
  launch_out("_cdist_backward", cpu::out_variant<at::_cdist_backward>, std::array{out}, grad,
             x1, x2, p, cdist);
  return out;
}

at::Tensor pdist_forward(const at::Tensor& self, double p) {
  check_arguments(self.dim() == 2 && self.is_contiguous() && p >= 0,
                  [&] { at::_pdist_forward(zeros_for(self), p); });
  const int64_t rows = self.size(0);
  const at::Tensor out =
      at::empty({rows <= 1 ? 0 : rows * (rows - 1) / 2}, self.options());
  launch_out("_pdist_forward", cpu::out_variant<at::_pdist_forward>, std::array{out}, self,
             p);
  return out;
}

at::Tensor pdist_backward(const at::Tensor& grad, const at::Tensor& self, double p,
                          const at::Tensor& pdist) {
  check_same_device("_pdist_backward", grad, self, pdist);
  check_arguments(
      self.dim() == 2 && self.is_contiguous() && pdist.is_contiguous() &&
          grad.sizes() == pdist.sizes() && grad.scalar_type() == self.scalar_type(),
      [&] {
        at::_pdist_backward(zeros_for(grad), zeros_for(self), p, zeros_for(pdist));
      });
  const at::Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  launch_out("_pdist_backward", cpu::out_variant<at::_pdist_backward>, std::array{out}, grad,
             self, p, pdist);
  return out;
}

}  // namespace

void register_distance(torch::Library& m) {
  m.impl("_cdist_forward", cdist_forward);
  m.impl("_cdist_backward", cdist_backward);
  m.impl("_pdist_forward", pdist_forward);
  m.impl("_pdist_backward", pdist_backward);
}

}  // namespace openreg
