// Registers products of matrices; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/_addmm_activation_meta.h>
#include <ATen/ops/addmm_meta.h>
#include <ATen/ops/addmv_meta.h>
#include <ATen/ops/baddbmm_meta.h>
#include <ATen/ops/bmm_meta.h>

#include "csrc/aten/meta/Product.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"
#include "csrc/kernels/cpu/Product.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

template <class Op, class Out, class Meta, auto* kFunction>
void product(torch::Library& m) {
  cpu::on_cpu<Op, Out, Meta, cpu::product<kFunction>, cpu::Precision::Read>(m);
}

// In place, a product may write to a tensor that overlaps itself.
template <auto* kFunction>
struct ProductInPlace : cpu::OnCpu<cpu::product<kFunction>, cpu::Precision::Read> {
  static constexpr bool kMayOverlapItself = true;
};
template <class Op, class Out, class Meta, auto* kFunction>
void product_in_place(torch::Library& m) {
  structured<Op, Out, Meta>(m, ProductInPlace<kFunction>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  product<op::mm, op::mm_out, Mm, at::cpu::mm_outf>(m);
  product<op::bmm, op::bmm_out, meta::structured_bmm, at::cpu::bmm_outf>(m);
  product<op::addmm, op::addmm_out, Addmm<meta::structured_addmm>, at::cpu::addmm_outf>(
      m);
  product_in_place<op::addmv, op::addmv_out, meta::structured_addmv,
                   cpu::inplace_or_out<at::cpu::addmv_outf, at::cpu::addmv_>>(m);
  product_in_place<op::baddbmm, op::baddbmm_out, meta::structured_baddbmm,
                   cpu::inplace_or_out<at::cpu::baddbmm_outf, at::cpu::baddbmm_>>(m);
  product<op::_addmm_activation, op::_addmm_activation_out,
          Addmm<meta::structured__addmm_activation>, at::cpu::_addmm_activation_outf>(
      m);
}

}  // namespace openreg
