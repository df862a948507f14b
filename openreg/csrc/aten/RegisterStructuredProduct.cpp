// Registers products of matrices; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Operators.h>
#include <ATen/ops/_addmm_activation_meta.h>
#include <ATen/ops/addmm_meta.h>
#include <ATen/ops/addmv_meta.h>
#include <ATen/ops/baddbmm_meta.h>
#include <ATen/ops/bmm_meta.h>
#include <ATen/ops/mm_meta.h>

#include <array>
#include <tuple>

#include "csrc/aten/kernels/Inplace.h"
#include "csrc/aten/kernels/Product.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

// Torch's meta function leaves the dtypes to the kernel.
struct Mm : meta::structured_mm {
  void meta(const at::Tensor& self, const at::Tensor& mat2) {
    meta::structured_mm::meta(self, mat2);
    TORCH_CHECK(self.dtype() == mat2.dtype(),
                "expected m1 and m2 to have the same dtype, but got: ", self.dtype(),
                " != ", mat2.dtype());
  }
};

// Torch's meta function leaves the sizes of `self` to the kernel.
template <class Meta>
struct Addmm : Meta {
  template <class... Args>
  void meta(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
            const Args&... args) {
    Meta::meta(self, mat1, mat2, args...);
    const std::array<int64_t, 2> sizes{mat1.size(0), mat2.size(1)};
    if (!at::is_expandable_to(self.sizes(), sizes)) {
      std::ignore = at::expand_size(self, sizes, "addmm_out");  // throws
    }
  }
};

// LITERALINCLUDE START: LINEAR
template <class Op, class Out, class Meta, auto* kKernel>
void product(torch::Library& m) {
  structured<Op, Out, Meta, kernels::kProduct<kKernel>>(m, Reads::Precision);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  product<op::mm, op::mm_out, Mm, cpu::mm_outf>(m);
  product<op::bmm, op::bmm_out, meta::structured_bmm, cpu::bmm_outf>(m);
  product<op::addmm, op::addmm_out, Addmm<meta::structured_addmm>, cpu::addmm_outf>(m);
  product<op::addmv, op::addmv_out, meta::structured_addmv,
          kernels::InplaceOrOut<cpu::addmv_outf, cpu::addmv_>::call>(m);
  product<op::baddbmm, op::baddbmm_out, meta::structured_baddbmm,
          kernels::InplaceOrOut<cpu::baddbmm_outf, cpu::baddbmm_>::call>(m);
  product<op::_addmm_activation, op::_addmm_activation_out,
          Addmm<meta::structured__addmm_activation>, cpu::_addmm_activation_outf>(m);
}
// LITERALINCLUDE END: LINEAR

}  // namespace openreg
