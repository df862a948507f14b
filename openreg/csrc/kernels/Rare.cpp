// Registers structured and pointwise operators that some models meet; see
// docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/_dirichlet_grad.h>
#include <ATen/ops/_standard_gamma_grad.h>
#include <ATen/ops/addbmm_native.h>
#include <ATen/ops/erfinv_meta.h>
#include <ATen/ops/i0_meta.h>
#include <ATen/ops/index_reduce_meta.h>
#include <ATen/ops/isin_meta.h>
#include <ATen/ops/linalg_cross_meta.h>
#include <ATen/ops/logaddexp2_meta.h>
#include <ATen/ops/remainder_native.h>
#include <ATen/ops/renorm_meta.h>

#include "csrc/aten/structured/Pointwise.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

// The CPU kernel warns that it is new. Here the host half warns, on the call.
struct IndexReduce : meta::structured_index_reduce {
  meta_return_ty meta(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                      const at::Tensor& source, std::string_view reduce,
                      bool include_self) {
    const meta_return_ty checked = meta::structured_index_reduce::meta(
        self, dim, index, source, reduce, include_self);
    TORCH_WARN_ONCE("index_reduce() is in beta and the API may change at any time.");
    return checked;
  }
};

// Torch's meta function leaves the dimension to the kernel.
struct Renorm : meta::structured_renorm {
  void meta(const at::Tensor& self, const at::Scalar& p, int64_t dim,
            const at::Scalar& maxnorm) {
    meta::structured_renorm::meta(self, p, at::maybe_wrap_dim(dim, self.dim()),
                                  maxnorm);
  }
};

// The kernel of the CPU flattens the elements to look for without a copy, which strides
// may rule out.
at::Tensor& isin_out(const at::Tensor& elements, const at::Tensor& tests,
                     bool assume_unique, bool invert, at::Tensor& out) {
  return at::cpu::isin_outf(elements, tests.contiguous(), assume_unique, invert, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::erfinv, op::erfinv_out, meta::structured_erfinv,
              at::cpu::erfinv_outf>(m);
  cpu::on_cpu<op::i0, op::i0_out, meta::structured_i0, at::cpu::i0_outf>(m);
  cpu::on_cpu<op::logaddexp2, op::logaddexp2_out, meta::structured_logaddexp2,
              at::cpu::logaddexp2_outf>(m);
  cpu::on_cpu<op::index_reduce, op::index_reduce_out, IndexReduce,
              cpu::without_warnings<at::cpu::index_reduce_outf>>(m);
  cpu::on_cpu<op::isin_Tensor_Tensor, op::isin_Tensor_Tensor_out,
              meta::structured_isin_Tensor_Tensor, isin_out>(m);
  cpu::on_cpu<op::isin_Tensor_Scalar, op::isin_Tensor_Scalar_out,
              meta::structured_isin_Tensor_Scalar, at::cpu::isin_outf>(m);
  cpu::on_cpu<op::linalg_cross, op::linalg_cross_out, meta::structured_linalg_cross,
              at::cpu::linalg_cross_outf>(m);
  cpu::on_cpu<op::renorm, op::renorm_out, Renorm, at::cpu::renorm_outf>(m);
  cpu::on_cpu_without_out<op::_standard_gamma_grad, Pointwise,
                          cpu::out_variant<at::_standard_gamma_grad>>(m);
  cpu::on_cpu_without_out<op::_dirichlet_grad, Pointwise,
                          cpu::out_variant<at::_dirichlet_grad>>(m);
  // Torch's functions are made of operators, but registered for its own devices only.
  m.impl("remainder.Scalar_Tensor",
         static_cast<at::Tensor (*)(const at::Scalar&, const at::Tensor&)>(
             at::native::remainder));
  m.impl("addbmm", at::native::addbmm);
  m.impl("addbmm_", at::native::addbmm_);
  m.impl("addbmm.out", at::native::addbmm_out);
}

}  // namespace openreg
