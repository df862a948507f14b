// Registers operators that gather, scatter or join; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/cat_meta.h>
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_copy_meta.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_reduce_meta.h>
#include <ATen/ops/tril_meta.h>
#include <ATen/ops/triu_meta.h>

#include "csrc/aten/kernels/Inplace.h"
#include "csrc/aten/launch/Quiet.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

// Its meta function warns that `reduce` is deprecated: on the host, and in the kernel.
constexpr auto* kScatterReduce =
    static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, const at::Tensor&,
                                const at::Tensor&, c10::string_view, at::Tensor&)>(
        cpu::scatter_outf);

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured<op::cat, op::cat_out, meta::structured_cat, cpu::cat_outf>(m);
  structured<op::gather, op::gather_out, meta::structured_gather, cpu::gather_outf>(m);
  structured<op::scatter_src, op::scatter_src_out, meta::structured_scatter_src,
             cpu::scatter_outf>(m);
  structured<op::scatter_value, op::scatter_value_out, meta::structured_scatter_value,
             cpu::scatter_outf>(m);
  structured<op::scatter_reduce, op::scatter_reduce_out,
             meta::structured_scatter_reduce, Silent<kScatterReduce>::call>(m);
  structured<op::scatter_value_reduce, op::scatter_value_reduce_out,
             meta::structured_scatter_value_reduce, cpu::scatter_outf>(m);
  structured<op::scatter_add, op::scatter_add_out, meta::structured_scatter_add,
             cpu::scatter_add_outf>(m);
  structured<op::scatter_reduce_two, op::scatter_reduce_two_out,
             meta::structured_scatter_reduce_two, cpu::scatter_reduce_outf>(m);
  structured<op::index_add, op::index_add_out, meta::structured_index_add,
             cpu::index_add_outf>(m);
  structured<op::index_copy, op::index_copy_out, meta::structured_index_copy,
             cpu::index_copy_outf>(m);
  structured<op::tril, op::tril_out, meta::structured_tril,
             kernels::InplaceOrOut<cpu::tril_outf, cpu::tril_>::call>(m);
  structured<op::triu, op::triu_out, meta::structured_triu,
             kernels::InplaceOrOut<cpu::triu_outf, cpu::triu_>::call>(m);
}

}  // namespace openreg
